// SPDX-License-Identifier: Apache-2.0
// Opening a store, proving that it is ours, and the counters beside the keys.
#include "base/hex.h"
#include "service/store/lmdb_tables.h"
#include "service/store/record_store.h"

namespace tkdc {
namespace {

// Formats: whether there is a keyring, and whether the store was ever refreshed.
constexpr std::uint8_t kOneLevel = 1, kTwoLevels = 2, kRefreshed = 2;  // kRefreshed is added

const ByteSpan kOwnerName = octets("owner");  // in the clear, for the message
const ByteSpan kCheckName = octets("key check");
const ByteSpan kEpochName = octets("epoch");
const ByteSpan kRevokedName = octets("revoked");
constexpr std::string_view kCheckText = "this store key opens this store";

Bytes put_epochs(const Epochs& epochs) {
  Bytes out;
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

namespace {

Result<std::unique_ptr<Store>> open_store(std::unique_ptr<Tables> tables,
                                          const StoreOptions& options, const SecretBuffer& key,
                                          std::optional<Keyring> keyring) {
  if (key.size() != crypto_aead_xchacha20poly1305_ietf_KEYBYTES)
    return fail("store: the store key must have 32 octets; compare [store] key_file");
  auto store = std::make_unique<RecordStore>(options, key, std::move(tables), std::move(keyring));
  auto opened = store->check_owner();
  if (!opened.ok()) return opened.error();
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(const StoreOptions& options, const SecretBuffer& key) {
  auto tables = open_lmdb_tables(options.path, options.map_bytes);
  if (!tables.ok()) return tables.error();
  return open_store(std::move(*tables), options, key,
                    Keyring(options.path, {options.installation, options.party}));
}

Result<std::unique_ptr<Store>> Store::open_on(std::unique_ptr<Tables> tables,
                                              const StoreOptions& options,
                                              const SecretBuffer& key) {
  return open_store(std::move(tables), options, key, std::nullopt);
}

void RecordStore::use_keys() {
  wrapping_ = SecretBuffer(kStoreKeyBytes);
  cipher_ = StoreCipher(keys_.current, options_.installation, options_.party);
  if (keys_.previous) cipher_.also_decrypts(*keys_.previous);
}

// A store without a keyring was made when there was none.
Result<void> RecordStore::read_keys() {
  two_levels_ = keyring_ && keyring_->exists();
  if (two_levels_) {
    auto keys = keyring_->read(wrapping_);
    if (!keys) return keys.error();
    keys_ = std::move(*keys);
  }
  use_keys();
  return {};
}

// Its keys first: a crash behind them leaves a store that is still new.
Result<void> RecordStore::write_new_store(Txn& txn) {
  if (keyring_ && !keyring_->exists()) {
    const StoreKeys fresh{draw_store_key(), std::nullopt};
    if (auto written = keyring_->write(fresh, {&wrapping_}); !written) return written;
  }
  if (auto read = read_keys(); !read.ok()) return read;
  return write_owner(txn);
}

Bytes RecordStore::owner_record(bool refreshed) const {
  Bytes owner;
  owner.reserve(32);
  Writer w(owner);
  w.u8(static_cast<std::uint8_t>((two_levels_ ? kTwoLevels : kOneLevel) +
                                 (refreshed ? kRefreshed : 0)));
  w.raw(options_.installation);
  w.u8(static_cast<std::uint8_t>(options_.party));
  return owner;
}

Result<void> RecordStore::write_owner(Txn& txn) {
  for (Table table : {kCommitted, kPrepared, kTombstones}) {
    std::size_t entries = 0;
    int rc = txn->count(table, entries);
    if (rc != 0) return failed("opening", rc);
    if (entries != 0)
      return fail("store: " + options_.path +
                  " has keys but no owner record: it is damaged; "
                  "restore it from its backup");
  }
  int rc = txn->put(kMeta, kOwnerName, owner_record(false));
  if (rc == 0)
    rc = txn->put(kMeta, kCheckName, cipher_.encrypt("meta", kCheckName, {}, octets(kCheckText)));
  if (rc == 0)
    rc = txn->put(kMeta, kEpochName, cipher_.encrypt("meta", kEpochName, {}, put_epochs({})));
  if (rc == 0) rc = txn->commit();
  if (rc != 0) return failed("opening", rc);
  return {};
}

Result<void> RecordStore::check_owner() {
  Txn txn(*tables_, true);
  if (txn.begun() != 0) return failed("opening", txn.begun());
  ByteSpan value;
  int rc = txn->find(kMeta, kOwnerName, value);
  if (rc == Tables::kNotFound) return write_new_store(txn);
  if (rc != 0) return failed("opening", rc);
  Reader r(value);
  std::uint8_t format = r.u8();
  InstallationId installation{};
  r.array(installation);
  int party = r.u8();
  if (!r.complete() || format < kOneLevel || format > kTwoLevels + kRefreshed)
    return fail("store: " + options_.path + " has format " + std::to_string(format) +
                ", this release reads formats 1 to 4");
  const bool refreshed = format > kTwoLevels;
  if (refreshed) format -= kRefreshed;
  if (installation != options_.installation || party != options_.party)
    return fail("store: " + options_.path + " belongs to party " + std::to_string(party) +
                " of installation " + to_hex(installation) + ", not to party " +
                std::to_string(options_.party) + " of " + to_hex(options_.installation) +
                "; correct [store] path");
  if (auto read = read_keys(); !read.ok()) return read;
  if (format == kTwoLevels && !two_levels_)
    return fail("store: " + options_.path +
                "/keys is missing, and without it nobody can read the store: put it back from the "
                "store's backup");
  SecretVector text;
  rc = txn->find(kMeta, kCheckName, value);
  if (rc != 0 || !cipher_.decrypt("meta", kCheckName, value, text))
    return fail("store: the key does not open " + options_.path +
                "; [store] key_file is another server's or was replaced");
  if (auto loaded = load_epochs(txn); !loaded.ok()) return loaded;
  if (auto loaded = load_refresh(txn); !loaded.ok()) return loaded;
  if (refreshed != (refresh_.is.epoch > 0))
    return fail("store: " + options_.path +
                " and its refresh epoch contradict each other; restore it from its backup");
  if (format == kOneLevel && two_levels_) return say_two_levels(txn);
  return {};
}

// A crash came between the keys of begin_rekey() and this. Without it a release that knows no keys
// would open the store, and find values of which it has no key.
Result<void> RecordStore::say_two_levels(Txn& txn) {
  int rc = txn->put(kMeta, kOwnerName, owner_record(refresh_.is.epoch > 0));
  if (rc == 0) rc = txn->commit();
  if (rc != 0) return failed("opening", rc);
  return {};
}

Result<void> RecordStore::load_epochs(Txn& txn) {
  ByteSpan value;
  SecretVector text;
  if (txn->find(kMeta, kEpochName, value) != 0 ||
      !cipher_.decrypt("meta", kEpochName, value, text) || !get_epochs(text, epochs_))
    return fail("store: the nonce epochs in " + options_.path +
                " are missing or corrupt; restore the store from its backup");
  return {};
}

Epochs RecordStore::epochs() {
  std::lock_guard lock(epochs_mutex_);
  return epochs_;
}

Result<void> RecordStore::set_epochs(const Epochs& epochs) {
  std::lock_guard lock(write_mutex_);
  const Epochs before = this->epochs();
  if (const char* fault = epochs_fault(before, epochs))
    return fail("store: " + std::string(fault) + ": it has " + std::to_string(before.reserved) +
                " in era " + std::to_string(before.era) + ", asked for " +
                std::to_string(epochs.reserved) + " in era " + std::to_string(epochs.era));
  auto stored = write("storing the nonce epochs", [&](Txn& txn) {
    return txn->put(kMeta, kEpochName, cipher_.encrypt("meta", kEpochName, {}, put_epochs(epochs)));
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

Result<Bytes> RecordStore::revoked() {
  Txn txn(*tables_, false);
  if (txn.begun() != 0) return failed("reading the revoked windows", txn.begun());
  ByteSpan value;
  int rc = txn->find(kMeta, kRevokedName, value);
  if (rc == Tables::kNotFound) return Bytes();
  if (rc != 0) return failed("reading the revoked windows", rc);
  SecretVector state;
  if (!cipher_.decrypt("meta", kRevokedName, value, state))
    return fail("store: the revoked windows in " + options_.path +
                " are corrupt; restore the store from its backup");
  return Bytes(state.begin(), state.end());
}

Result<void> RecordStore::set_revoked(ByteSpan state) {
  std::lock_guard lock(write_mutex_);
  return write("storing the revoked windows", [&](Txn& txn) {
    return txn->put(kMeta, kRevokedName, cipher_.encrypt("meta", kRevokedName, {}, state));
  });
}

Result<std::uint64_t> RecordStore::seal_mark(const KeyId& id) {
  Txn txn(*tables_, false);
  if (txn.begun() != 0) return failed("reading a key's seal count", txn.begun());
  ByteSpan value;
  int rc = txn->find(kSeals, id, value);
  if (rc == Tables::kNotFound) return std::uint64_t{0};
  if (rc != 0) return failed("reading a key's seal count", rc);
  SecretVector text;
  if (!cipher_.decrypt("seals", id, value, text) || text.size() != 8) return corrupt(kSeals, id);
  return Reader(text).u64();
}

Result<void> RecordStore::set_seal_mark(const KeyId& id, std::uint64_t mark) {
  Bytes body;
  body.reserve(8);
  Writer(body).u64(mark);
  std::lock_guard lock(write_mutex_);
  return write("storing a key's seal count", [&](Txn& txn) {
    return txn->put(kSeals, id, cipher_.encrypt("seals", id, {}, body));
  });
}

}  // namespace tkdc
