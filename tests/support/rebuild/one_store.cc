// SPDX-License-Identifier: Apache-2.0
#include "one_store.h"

#include <stdlib.h>
#include <toml++/toml.h>

#include <filesystem>
#include <fstream>

#include "base/hex.h"
#include "service/store/store.h"

namespace tkdc::rebuild {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPage = 1024;

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

// Of the tables that serve, which a refresh changes.
Result<std::vector<KeyId>> committed_ids(Store& store) {
  std::vector<KeyId> ids;
  while (true) {
    Result<std::vector<KeyId>> more = store.ids_behind(ids.empty() ? KeyId{} : ids.back(), kPage);
    if (!more) return more.error();
    if (more->empty()) return ids;
    ids.insert(ids.end(), more->begin(), more->end());
  }
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
  config->options.path = copy.path().string();
  Result<std::unique_ptr<Store>> store = Store::open(config->options, *key);
  if (!store) return store.error();

  Result<std::vector<KeyId>> ids = committed_ids(**store);
  if (!ids) return ids.error();
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
