// SPDX-License-Identifier: Apache-2.0
// The keys of refresh epochs (docs/adr/0063), in two files: `keys` has them, and the database names
// those that its values are under. Whichever is written first, a crash behind it leaves a key that
// nothing names, and never a name without its key: one is drawn before it is named, and goes after
// its name. What nothing names goes with tidy(), when a session has begun, and not when the store
// is opened: the database that lies there may be another moment's.
#include <algorithm>

#include "service/store/record_store.h"

namespace tkdc {

std::shared_ptr<const RowCiphers> RecordStore::row_ciphers() const {
  std::lock_guard lock(rows_mutex_);
  return rows_;
}

// As the tables that serve: those of the disk do so from switch_over() on.
void RecordStore::use_epoch_keys() {
  const StoreOwner owner{options_.installation, options_.party};
  auto [serving, other] = std::pair(refresh_.key, refresh_.other_key);
  if (switch_due_)
    std::swap(serving, other);
  else if (other == EpochKeyId{} && refresh_.other == Other::kNothing)
    other = serving;
  auto made = std::make_shared<const RowCiphers>(keys_, serving, other, owner);
  std::lock_guard lock(rows_mutex_);
  rows_ = std::move(made);
}

Error RecordStore::lacks_epoch_key() const {
  return fail("store: " + options_.path +
              "/keys lacks the key that shares of this store are under: it is not of the same "
              "moment as data.mdb. Put both back together, restore the store from its backup, or "
              "repair this server");
}

Result<void> RecordStore::check_epoch_keys() const {
  const bool has_other =
      refresh_.other == Other::kNothing || has_epoch_key(keys_, refresh_.other_key);
  if (!has_epoch_key(keys_, refresh_.key) || !has_other) return lacks_epoch_key();
  return {};
}

// What an attempt has made goes where its key is missing. MAC keys may be under that key, too.
Result<void> RecordStore::give_up_unreadable() {
  const EpochKeyId& id = refresh_.other_key;
  if (id == EpochKeyId{} || has_epoch_key(keys_, id)) return {};
  if (!keys().ok()) return lacks_epoch_key();
  Refresh next = refresh_;
  next.other_key = {};
  return change_refresh("dropping what nobody can read", next,
                        [&](Txn& txn) { return empty_next(txn); });
}

// Where the other pair is empty, and MAC keys are under the key that serves: both are the
// caller's doing.
StoreKeys RecordStore::needed_keys() const {
  StoreKeys out = copy_of(keys_);
  std::erase_if(out.epochs, [&](const EpochKey& one) {
    return one.id != refresh_.key && one.id != refresh_.other_key;
  });
  out.bare_rows = refresh_.key == EpochKeyId{} && !out.epochs.empty();
  return out;
}

// Where it fails, the file is the one of before or the new one, whose name may not be on disk yet.
// The former keys go on; tidy() writes what is needed, whichever it is.
Result<void> RecordStore::write_epoch_keys(StoreKeys keys) {
  if (auto written = keyring_->write_epochs(keys); !written.ok()) {
    keys_file_unsure_ = tidy_due_ = true;
    return written;
  }
  keys_file_unsure_ = false;
  keys_ = std::move(keys);
  use_epoch_keys();
  return {};
}

Result<void> RecordStore::drop_epoch_keys() {
  if (!two_levels_) return {};
  StoreKeys needed = needed_keys();
  if (needed.epochs.size() < keys_.epochs.size() || needed.bare_rows != keys_.bare_rows ||
      keys_file_unsure_)
    if (auto written = write_epoch_keys(std::move(needed)); !written.ok()) return written;
  if (!keys_.epochs.empty() || !epoch_keys_) return {};
  // None is left, as after a first refresh that was abandoned: a release of before reads it again.
  epoch_keys_ = false;
  auto said = write("saying the store's format", [&](Txn& txn) {
    return txn->put(kMeta, meta::kOwner, owner_record(refresh_.is.epoch > 0, has_dropped_));
  });
  epoch_keys_ = !said.ok();
  return said;
}

// The other pair of tables begins anew, under a new key. The format first: a release that knows no
// such keys could not even say what it finds in `keys`.
Result<void> RecordStore::begin_next(const char* step, Refresh next,
                                     const std::function<int(Txn&)>& empty) {
  next.other = Other::kNothing;
  next.other_key = {};
  epoch_keys_ = two_levels_;
  auto begun = change_refresh(step, next, [&](Txn& txn) {
    const int rc = empty(txn);
    return rc == 0 ? keep_mac_keys(txn, row_ciphers()->serving()) : rc;
  });
  if (!begun.ok() || !two_levels_) return begun;
  StoreKeys keys = needed_keys();
  next.other_key = keys.epochs.emplace_back(draw_epoch_key()).id;
  keys.bare_rows = refresh_.key == EpochKeyId{};
  if (auto written = write_epoch_keys(std::move(keys)); !written.ok()) return written;
  auto named = change_refresh(step, next);
  use_epoch_keys();
  if (!named.ok()) tidy_due_ = true;  // the key that nothing names goes
  return named;
}

// MAC keys are in either epoch's: with the other key they would be lost.
int RecordStore::keep_mac_keys(Txn& txn, const StoreCipher& cipher) {
  const std::string_view where = Tables::kNames[kMeta];
  const auto rows = row_ciphers();
  ByteSpan value;
  const int rc = txn->find(kMeta, meta::kMacKeys, value);
  if (rc == Tables::kNotFound) return 0;
  SecretVector text;
  if (rc != 0 || cipher.decrypt(where, meta::kMacKeys, value, text, StoreCipher::Under::kCurrent) ||
      !rows->mac_keys().decrypt(where, meta::kMacKeys, value, text))
    return rc;
  return txn->put(kMeta, meta::kMacKeys, cipher.encrypt(where, meta::kMacKeys, {}, text));
}

}  // namespace tkdc
