// SPDX-License-Identifier: Apache-2.0
// Opening a store, proving that it is ours, and the counters beside the keys.
#include "base/durable_file.h"
#include "base/system_error.h"
#include "service/store/lmdb_tables.h"
#include "service/store/meta_values.h"
#include "service/store/record_store.h"

namespace tkdc {
namespace {

constexpr const char* kRevokedWindows = "the list of revoked windows";
constexpr const char* kAuditHead = "the audit log's head";

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
                                              const StoreOptions& options, const SecretBuffer& key,
                                              const Keyring* keyring) {
  return open_store(std::move(tables), options, key,
                    keyring != nullptr ? std::optional(*keyring) : std::nullopt);
}

void RecordStore::use_keys() {
  wrapping_ = SecretBuffer(kStoreKeyBytes);
  cipher_ = store_cipher(keys_, {options_.installation, options_.party});
  use_epoch_keys();
}

Result<bool> RecordStore::has_keys() const { return keyring_ ? keyring_->exists() : false; }

// A store without a keyring was made when there was none.
Result<void> RecordStore::read_keys() {
  if (keyring_) keyring_->remove_draft();
  auto exists = has_keys();
  if (!exists) return exists.error();
  two_levels_ = *exists;
  if (two_levels_) {
    auto keys = keyring_->read(wrapping_);
    if (!keys) return keys.error();
    keys_ = std::move(*keys);
    // Who gave it its name may have ended before that was on disk: after a loss of power a former
    // file would be there, which lacks the key of what is written from here on.
    if (!sync_folder(options_.path)) return system_error("store: cannot sync " + options_.path);
  }
  use_keys();
  return {};
}

// Its keys first: a crash behind them leaves a store that is still new.
Result<void> RecordStore::write_new_store(Txn& txn) {
  auto exists = has_keys();
  if (!exists) return exists.error();
  if (keyring_ && !*exists) {
    StoreKeys fresh{draw_store_key(), std::nullopt, {}};
    fresh.epochs.push_back(draw_epoch_key());
    if (auto written = keyring_->write(fresh, {&wrapping_}); !written) return written;
  }
  if (auto read = read_keys(); !read.ok()) return read;
  if (keys_.epochs.size() > 1)
    return fail("store: data.mdb is missing in " + options_.path +
                ", and its file keys has the keys of more than one refresh epoch: put data.mdb "
                "back; only if it is lost for good, remove keys, too, for a new store");
  epoch_keys_ = !keys_.epochs.empty();
  if (epoch_keys_) refresh_.key = keys_.epochs.front().id;
  use_epoch_keys();
  return write_owner(txn);
}

Bytes RecordStore::owner_record(bool refreshed, bool dropped) const {
  return encode_owner({two_levels_, refreshed, dropped, epoch_keys_}, options_);
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
  int rc = epoch_keys_ ? put_refresh(txn, refresh_)
                       : txn->put(kMeta, meta::kOwner, owner_record(false, false));
  if (rc == 0)
    rc = txn->put(kMeta, meta::kKeyCheck,
                  cipher_.encrypt("meta", meta::kKeyCheck, {}, octets(kKeyCheckText)));
  if (rc == 0)
    rc = txn->put(kMeta, meta::kEpochs,
                  cipher_.encrypt("meta", meta::kEpochs, {}, encode_epochs({})));
  if (rc == 0) rc = txn->commit();
  if (rc != 0) return failed("opening", rc);
  return {};
}

Result<void> RecordStore::check_owner() {
  auto loaded = load();
  return loaded.ok() ? give_up_unreadable() : loaded;
}

Result<void> RecordStore::load() {
  Txn txn(*tables_, true);
  if (txn.begun() != 0) return failed("opening", txn.begun());
  ByteSpan value;
  int rc = txn->find(kMeta, meta::kOwner, value);
  if (rc == Tables::kNotFound) return write_new_store(txn);
  if (rc != 0) return failed("opening", rc);
  auto owner = read_owner(value, options_);
  if (!owner.ok()) return owner.error();
  if (auto read = read_keys(); !read.ok()) return read;
  epoch_keys_ = owner->epoch_keys || !keys_.epochs.empty();
  if (owner->two_levels && !two_levels_)
    return fail("store: " + options_.path +
                "/keys is missing, and without it nobody can read the store: " + kPutKeysBack);
  SecretVector text;
  rc = txn->find(kMeta, meta::kKeyCheck, value);
  if (rc != 0 || !cipher_.decrypt("meta", meta::kKeyCheck, value, text))
    return fail("store: the key does not open " + options_.path +
                "; [store] key_file is another server's or was replaced");
  if (auto loaded = load_epochs(txn); !loaded.ok()) return loaded;
  if (auto loaded = load_refresh(txn); !loaded.ok()) return loaded;
  if (auto there = check_epoch_keys(); !there.ok()) return there;
  if (owner->refreshed != (refresh_.is.epoch > 0))
    return fail("store: " + options_.path +
                " and its refresh epoch contradict each other; restore it from its backup");
  std::size_t dropped = 0;
  if (rc = txn->count(kDropped, dropped); rc != 0) return failed("opening", rc);
  has_dropped_ = dropped > 0;
  if (owner->dropped != has_dropped_)
    return fail("store: " + options_.path +
                " and its dropped keys contradict each other; restore it from its backup");
  if (owner->two_levels != two_levels_ || owner->epoch_keys != epoch_keys_) return say_format(txn);
  return {};
}

// A crash came between the keys of begin_rekey() and this. Without it a release that knows no keys
// would open the store, and find values of which it has no key.
Result<void> RecordStore::say_format(Txn& txn) {
  int rc = txn->put(kMeta, meta::kOwner, owner_record(refresh_.is.epoch > 0, has_dropped_));
  if (rc == 0) rc = txn->commit();
  if (rc != 0) return failed("opening", rc);
  return {};
}

Result<void> RecordStore::load_epochs(Txn& txn) {
  ByteSpan value;
  SecretVector text;
  if (txn->find(kMeta, meta::kEpochs, value) != 0 ||
      !cipher_.decrypt("meta", meta::kEpochs, value, text) || !decode_epochs(text, epochs_))
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
    return txn->put(kMeta, meta::kEpochs,
                    cipher_.encrypt("meta", meta::kEpochs, {}, encode_epochs(epochs)));
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

// What a store keeps of itself, as one value: empty where there is none.
Result<Bytes> RecordStore::read_state(ByteSpan name, const std::string& what) {
  Txn txn(*tables_, false);
  if (txn.begun() != 0) return failed("reading " + what, txn.begun());
  ByteSpan value;
  int rc = txn->find(kMeta, name, value);
  if (rc == Tables::kNotFound) return Bytes();
  if (rc != 0) return failed("reading " + what, rc);
  SecretVector state;
  if (!cipher_.decrypt("meta", name, value, state))
    return fail("store: " + what + " in " + options_.path +
                " is corrupt; restore the store from its backup");
  return Bytes(state.begin(), state.end());
}

Result<Bytes> RecordStore::revoked() { return read_state(meta::kRevoked, kRevokedWindows); }

Result<void> RecordStore::set_revoked(ByteSpan state) {
  std::lock_guard lock(write_mutex_);
  return write("storing the revoked windows", [&](Txn& txn) {
    return txn->put(kMeta, meta::kRevoked, cipher_.encrypt("meta", meta::kRevoked, {}, state));
  });
}

Result<Bytes> RecordStore::audit_head() { return read_state(meta::kAuditHead, kAuditHead); }

Result<void> RecordStore::set_audit_head(ByteSpan head) {
  std::lock_guard lock(write_mutex_);
  return write("storing the audit log's head", [&](Txn& txn) {
    const int rc = uncount(txn);
    return rc == 0 ? txn->put(kMeta, meta::kAuditHead,
                              cipher_.encrypt("meta", meta::kAuditHead, {}, head))
                   : rc;
  });
}

// A store's generation counts its transactions, so that a backup which lacks some is known for
// older (store_snapshot.cc). This one is not among them: no backup has what it writes.
int RecordStore::uncount(Txn& txn) {
  ByteSpan value;
  std::uint64_t base = 0;
  const int rc = txn->find(kMeta, meta::kGeneration, value);
  if (rc != 0 && rc != Tables::kNotFound) return rc;
  SecretVector text;
  if (rc == 0) {
    if (!cipher_.decrypt("meta", meta::kGeneration, value, text) || text.size() != 8)
      return EBADMSG;
    base = Reader(text).u64();
  }
  Bytes less;
  Writer(less).u64(base - 1);
  return txn->put(kMeta, meta::kGeneration, cipher_.encrypt("meta", meta::kGeneration, {}, less));
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
