// SPDX-License-Identifier: Apache-2.0
// Opening a store, proving that it is ours, and the counters beside the keys.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/hex.h"
#include "base/system_error.h"
#include "service/store/lmdb_store.h"

namespace tkdc {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::uint8_t kStoreFormat = 1;

const ByteSpan kOwnerName = octets("owner");  // in the clear, for the message
const ByteSpan kCheckName = octets("key check");
const ByteSpan kEpochName = octets("epoch");
const ByteSpan kRevokedName = octets("revoked");
constexpr std::string_view kCheckText = "this store key opens this store";
constexpr std::size_t kEpochsBytes = 3 * 4 + 2 * 8;

Bytes put_epochs(const Epochs& epochs) {
  Bytes out;
  out.reserve(kEpochsBytes);
  Writer w(out);
  w.u32(epochs.era);
  w.u32(epochs.reserved);
  w.u32(epochs.used);
  w.u64(epochs.spent);
  w.u64(epochs.spent_at_s);
  return out;
}

bool get_epochs(ByteSpan in, Epochs& epochs) {
  Reader r(in);
  // Stores used to keep one number, of which it was not known whether it was used.
  if (in.size() == 4) {
    epochs.reserved = epochs.used = r.u32();
    return true;
  }
  epochs.era = r.u32();
  epochs.reserved = r.u32();
  epochs.used = r.u32();
  epochs.spent = r.u64();
  epochs.spent_at_s = r.u64();
  return r.complete() && epochs_fault({}, epochs) == nullptr;
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(const StoreOptions& options, const SecretBuffer& key) {
  if (key.size() != crypto_aead_xchacha20poly1305_ietf_KEYBYTES)
    return fail("store: the store key must have 32 octets; compare [store] key_file");
  auto store = std::make_unique<LmdbStore>(options, key);
  auto opened = store->open_files();
  if (!opened.ok()) return opened.error();
  return std::unique_ptr<Store>(std::move(store));
}

Result<void> LmdbStore::open_files() {
  if (mkdir(options_.path.c_str(), 0700) != 0 && errno != EEXIST)
    return system_error("store: cannot make " + options_.path);
  auto done = lock_directory();
  if (done.ok()) done = open_environment();
  if (done.ok()) done = check_owner();
  return done;
}

// LMDB would let two processes in, but each caches what the other changes.
Result<void> LmdbStore::lock_directory() {
  directory_lock_ = UniqueFd(::open(options_.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory_lock_) return system_error("store: cannot open " + options_.path);
  if (flock(directory_lock_.get(), LOCK_EX | LOCK_NB) != 0)
    return fail("store: " + options_.path +
                " is in use by another process; only one "
                "tkdc-server may run on a store");
  return {};
}

Result<void> LmdbStore::open_environment() {
  int rc = mdb_env_create(&env_);
  if (rc == 0) rc = mdb_env_set_maxdbs(env_, kTables);
  if (rc == 0) rc = mdb_env_set_maxreaders(env_, 512);
  if (rc == 0) rc = mdb_env_set_mapsize(env_, options_.map_bytes / kPageBytes * kPageBytes);
  if (rc == 0) rc = mdb_env_open(env_, options_.path.c_str(), MDB_NOTLS | MDB_NORDAHEAD, 0600);
  int dead = 0;
  if (rc == 0) rc = mdb_reader_check(env_, &dead);
  if (rc != 0) return failed("opening", rc);

  LmdbTxn txn(env_, 0);
  rc = txn.begun();
  constexpr const char* kNames[kTables] = {"committed", "prepared",  "tombstones",
                                           "meta",      "condemned", "seals"};
  for (int table = 0; rc == 0 && table < kTables; ++table)
    rc = mdb_dbi_open(txn.get(), kNames[table], MDB_CREATE, &dbi_[table]);
  if (rc == 0) rc = txn.commit();
  if (rc != 0) return failed("opening", rc);
  return {};
}

Result<void> LmdbStore::write_owner(LmdbTxn& txn) {
  for (Table table : {kCommitted, kPrepared, kTombstones}) {
    MDB_stat stat{};
    int rc = mdb_stat(txn.get(), dbi_[table], &stat);
    if (rc != 0) return failed("opening", rc);
    if (stat.ms_entries != 0)
      return fail("store: " + options_.path +
                  " has keys but no owner record: it is damaged; "
                  "restore it from its backup");
  }
  Bytes owner;
  owner.reserve(32);
  Writer w(owner);
  w.u8(kStoreFormat);
  w.raw(options_.installation);
  w.u8(static_cast<std::uint8_t>(options_.party));
  int rc = put(txn, kMeta, kOwnerName, owner);
  if (rc == 0)
    rc = put(txn, kMeta, kCheckName, sealer_.seal("meta", kCheckName, {}, octets(kCheckText)));
  if (rc == 0)
    rc = put(txn, kMeta, kEpochName, sealer_.seal("meta", kEpochName, {}, put_epochs({})));
  if (rc == 0) rc = txn.commit();
  if (rc != 0) return failed("opening", rc);
  return {};
}

Result<void> LmdbStore::check_owner() {
  LmdbTxn txn(env_, 0);
  if (txn.begun() != 0) return failed("opening", txn.begun());
  MDB_val value;
  int rc = find(txn, kMeta, kOwnerName, &value);
  if (rc == MDB_NOTFOUND) return write_owner(txn);
  if (rc != 0) return failed("opening", rc);
  Reader r(lmdb_span(value));
  std::uint8_t format = r.u8();
  InstallationId installation{};
  r.array(installation);
  int party = r.u8();
  if (!r.complete() || format != kStoreFormat)
    return fail("store: " + options_.path + " has format " + std::to_string(format) +
                ", this release reads format " + std::to_string(kStoreFormat));
  if (installation != options_.installation || party != options_.party)
    return fail("store: " + options_.path + " belongs to party " + std::to_string(party) +
                " of installation " + to_hex(installation) + ", not to party " +
                std::to_string(options_.party) + " of " + to_hex(options_.installation) +
                "; correct [store] path");
  SecretVector text;
  rc = find(txn, kMeta, kCheckName, &value);
  if (rc != 0 || !sealer_.open("meta", kCheckName, lmdb_span(value), text))
    return fail("store: the key does not open " + options_.path +
                "; [store] key_file is another server's or was replaced");
  return load_epochs(txn);
}

Result<void> LmdbStore::load_epochs(LmdbTxn& txn) {
  MDB_val value;
  SecretVector text;
  if (find(txn, kMeta, kEpochName, &value) != 0 ||
      !sealer_.open("meta", kEpochName, lmdb_span(value), text) || !get_epochs(text, epochs_))
    return fail("store: the nonce epochs in " + options_.path +
                " are missing or corrupt; restore the store from its backup");
  return {};
}

Epochs LmdbStore::epochs() {
  std::lock_guard lock(epochs_mutex_);
  return epochs_;
}

Result<void> LmdbStore::set_epochs(const Epochs& epochs) {
  std::lock_guard lock(write_mutex_);
  const Epochs before = this->epochs();
  if (const char* fault = epochs_fault(before, epochs))
    return fail("store: " + std::string(fault) + ": it has " + std::to_string(before.reserved) +
                " in era " + std::to_string(before.era) + ", asked for " +
                std::to_string(epochs.reserved) + " in era " + std::to_string(epochs.era));
  auto stored = write("storing the nonce epochs", [&](LmdbTxn& txn) {
    return put(txn, kMeta, kEpochName, sealer_.seal("meta", kEpochName, {}, put_epochs(epochs)));
  });
  if (!stored.ok()) return stored;
  {
    std::lock_guard epochs_lock(epochs_mutex_);
    epochs_ = epochs;
  }
  // Their records say whether they may seal.
  if (epochs.era != before.era) cache_.forget_all();
  return {};
}

Result<Bytes> LmdbStore::revoked() {
  LmdbTxn txn(env_, MDB_RDONLY);
  if (txn.begun() != 0) return failed("reading the revoked windows", txn.begun());
  MDB_val value;
  int rc = find(txn, kMeta, kRevokedName, &value);
  if (rc == MDB_NOTFOUND) return Bytes();
  if (rc != 0) return failed("reading the revoked windows", rc);
  SecretVector state;
  if (!sealer_.open("meta", kRevokedName, lmdb_span(value), state))
    return fail("store: the revoked windows in " + options_.path +
                " are corrupt; restore the store from its backup");
  return Bytes(state.begin(), state.end());
}

Result<void> LmdbStore::set_revoked(ByteSpan state) {
  std::lock_guard lock(write_mutex_);
  return write("storing the revoked windows", [&](LmdbTxn& txn) {
    return put(txn, kMeta, kRevokedName, sealer_.seal("meta", kRevokedName, {}, state));
  });
}

Result<std::uint64_t> LmdbStore::seal_mark(const KeyId& id) {
  LmdbTxn txn(env_, MDB_RDONLY);
  if (txn.begun() != 0) return failed("reading a key's seal count", txn.begun());
  MDB_val value;
  int rc = find(txn, kSeals, id, &value);
  if (rc == MDB_NOTFOUND) return std::uint64_t{0};
  if (rc != 0) return failed("reading a key's seal count", rc);
  SecretVector text;
  if (!sealer_.open("seals", id, lmdb_span(value), text) || text.size() != 8)
    return corrupt(kSeals, id);
  return Reader(text).u64();
}

Result<void> LmdbStore::set_seal_mark(const KeyId& id, std::uint64_t mark) {
  Bytes body;
  body.reserve(8);
  Writer(body).u64(mark);
  std::lock_guard lock(write_mutex_);
  return write("storing a key's seal count", [&](LmdbTxn& txn) {
    return put(txn, kSeals, id, sealer_.seal("seals", id, {}, body));
  });
}

}  // namespace tkdc
