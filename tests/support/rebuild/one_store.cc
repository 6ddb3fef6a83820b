// SPDX-License-Identifier: Apache-2.0
#include "one_store.h"

#include <lmdb.h>
#include <stdlib.h>
#include <toml++/toml.h>

#include <filesystem>
#include <fstream>

#include "base/hex.h"
#include "service/store/store.h"

namespace tkdc::rebuild {
namespace {

namespace fs = std::filesystem;

// A folder of its own that goes away with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "tkdc-rebuild-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

struct Config {
  StoreOptions options;
  fs::path key_file;
};

Result<SecretBuffer> read_key(const Config& config) {
  SecretBuffer key(32);
  std::ifstream file(config.key_file, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(key.data()), 32))
    return fail("cannot read the store key " + config.key_file.string());
  return key;
}

Result<Config> read_config(const std::string& file) {
  Config config;
  try {
    toml::table root = toml::parse_file(file);
    const fs::path folder = fs::absolute(file).parent_path();
    std::string id = root["installation"]["id"].value_or("");
    config.options.party = root["installation"]["party"].value_or(-1);
    config.options.path = (folder / root["store"]["path"].value_or("store")).string();
    config.key_file = folder / root["store"]["key_file"].value_or("store.key");
    if (!from_hex(id, config.options.installation))
      return fail(file + ": installation.id is not 32 hexadecimal digits");
  } catch (const toml::parse_error& error) {
    return fail(file + ": " + std::string(error.description()));
  }
  return config;
}

Result<std::vector<KeyId>> committed_ids(const fs::path& folder) {
  std::vector<KeyId> ids;
  MDB_env* env = nullptr;
  MDB_txn* txn = nullptr;
  MDB_cursor* cursor = nullptr;
  MDB_dbi table = 0;
  int rc = mdb_env_create(&env);
  if (rc == 0) rc = mdb_env_set_maxdbs(env, 8);
  if (rc == 0) rc = mdb_env_open(env, folder.c_str(), MDB_RDONLY, 0600);
  if (rc == 0) rc = mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn);
  if (rc == 0) rc = mdb_dbi_open(txn, "committed", 0, &table);
  if (rc == 0) rc = mdb_cursor_open(txn, table, &cursor);
  MDB_val key, value;
  while (rc == 0 && (rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
    KeyId id{};
    if (key.mv_size == id.size()) std::memcpy(id.data(), key.mv_data, id.size());
    ids.push_back(id);
  }
  if (cursor != nullptr) mdb_cursor_close(cursor);
  if (txn != nullptr) mdb_txn_abort(txn);
  if (env != nullptr) mdb_env_close(env);
  if (rc != MDB_NOTFOUND) return fail("listing the keys: " + std::string(mdb_strerror(rc)));
  return ids;
}

}  // namespace

Result<OneStore> read_store(const std::string& file) {
  Result<Config> config = read_config(file);
  if (!config) return config.error();
  Result<SecretBuffer> key = read_key(*config);
  if (!key) return key.error();

  const TemporaryFolder copy;
  std::error_code failed;
  fs::copy_file(fs::path(config->options.path) / "data.mdb", copy.path() / "data.mdb", failed);
  // A store that was made when there was no keyring has none.
  const fs::path keys = fs::path(config->options.path) / "keys";
  if (!failed && fs::exists(keys)) fs::copy_file(keys, copy.path() / "keys", failed);
  if (failed) return fail("copying " + config->options.path + ": " + failed.message());
  Result<std::vector<KeyId>> ids = committed_ids(copy.path());
  if (!ids) return ids.error();
  config->options.path = copy.path().string();
  Result<std::unique_ptr<Store>> store = Store::open(config->options, *key);
  if (!store) return store.error();

  OneStore out{config->options.party, {}};
  for (const KeyId& id : *ids) {
    Result<std::shared_ptr<const KeyRecord>> record = store.value()->get(id);
    if (!record) return record.error();
    if (record.value() != nullptr) out.records.push_back(*record.value());
  }
  return out;
}

Result<std::size_t> set_seal_marks(const std::string& file, const std::string& principal,
                                   std::uint64_t mark) {
  Result<OneStore> before = read_store(file);
  if (!before) return before.error();
  Result<Config> config = read_config(file);
  if (!config) return config.error();
  Result<SecretBuffer> key = read_key(*config);
  if (!key) return key.error();
  Result<std::unique_ptr<Store>> store = Store::open(config->options, *key);
  if (!store) return store.error();
  std::size_t set = 0;
  for (const KeyRecord& record : before->records) {
    if (record.principal_name != principal) continue;
    auto stored = store.value()->set_seal_mark(record.ref.id, mark);
    if (!stored.ok()) return stored.error();
    ++set;
  }
  return set;
}

}  // namespace tkdc::rebuild
