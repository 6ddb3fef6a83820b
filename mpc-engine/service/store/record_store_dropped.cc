// SPDX-License-Identifier: Apache-2.0
// Dropped keys: a row each in a table of their own, whose header says since when and what is to
// become of the key. The record stays where it is.
#include <algorithm>

#include "base/hex.h"
#include "service/store/record_store.h"

namespace tkdc {
namespace {

constexpr const char* kChangingDropped = "changing a dropped key";
constexpr std::size_t kRowRoom = 128;  // a row's octets, sealed, at most

KeyId id_in(ByteSpan name) {
  KeyId id{};
  std::copy_n(name.begin(), std::min(name.size(), id.size()), id.begin());
  return id;
}

}  // namespace

EntryId RecordStore::purge_entry(const KeyId& id) {
  constexpr std::string_view kLabel = "tkdc purge entry";
  static_assert(kLabel.size() == KeyId().size());
  EntryId entry{};
  for (std::size_t k = 0; k < entry.size(); ++k)
    entry[k] = static_cast<std::uint8_t>(id[k] ^ static_cast<std::uint8_t>(kLabel[k]));
  return entry;
}

Result<std::optional<RecordStore::DroppedRow>> RecordStore::dropped_row(Txn& txn, const KeyId& id) {
  ByteSpan value, header;
  const int rc = txn->find(kDropped, id, value);
  if (rc == Tables::kNotFound) return std::optional<DroppedRow>();
  if (rc != 0) return failed("looking up a dropped key", rc);
  DroppedRow row;
  SecretVector nothing;
  if (!cipher_.decrypt(Tables::kNames[kDropped], id, value, nothing) ||
      !StoreCipher::header(value, kDroppedHeaderBytes, header) ||
      !decode_dropped(header, row.state, row.at_s))
    return corrupt(kDropped, id);
  return std::optional(row);
}

int RecordStore::put_dropped(Txn& txn, const KeyId& id, const DroppedRow& row) {
  const Bytes header = encode_dropped(row.state, row.at_s);
  return txn->put(kDropped, id, cipher_.encrypt(Tables::kNames[kDropped], id, header, {}));
}

// The format follows with the first one, and with the last: under write_mutex_, before the commit.
int RecordStore::note_dropped(Txn& txn, bool& dropped) {
  std::size_t rows = 0;
  const int rc = txn->count(kDropped, rows);
  dropped = rows > 0;
  if (rc != 0 || dropped == has_dropped_) return rc;
  return txn->put(kMeta, meta::kOwner, owner_record(refresh_.is.epoch > 0, dropped));
}

Result<void> RecordStore::condemn_to_drop(const KeyId& id, std::uint64_t at_s) {
  Bytes sentence;
  Writer(sentence).u64(std::max<std::uint64_t>(at_s, 1));
  // Its record stays, and a row comes. What settles half done changes has its room behind that.
  if (int full = tables_->check_room(kPrepared, kRowRoom); full != 0)
    return failed("dropping a key", full);
  return condemn_with(id, sentence);
}

// As it was condemned. What was never condemned, or by a release that drops nothing, is buried.
Result<void> RecordStore::drop_or_bury(Txn& txn, const KeyId& id) {
  ByteSpan value;
  int rc = txn->find(kCondemned, id, value);
  if (rc == Tables::kNotFound) return bury(txn, id);
  if (rc != 0) return failed("dropping a key", rc);
  SecretVector sentence;
  if (!cipher_.decrypt(Tables::kNames[kCondemned], id, value, sentence))
    return corrupt(kCondemned, id);
  if (sentence.empty()) return bury(txn, id);
  Reader r(sentence);
  const std::uint64_t at_s = r.u64();
  if (!r.complete()) return corrupt(kCondemned, id);
  rc = txn->find(kCommitted, id, value);
  if (rc == Tables::kNotFound) return bury(txn, id);
  if (rc == 0) rc = put_dropped(txn, id, {DroppedState::kDropped, at_s});
  if (rc == 0) rc = txn->erase(kCondemned, id);
  if (rc != 0) return failed("dropping a key", rc);
  return {};
}

Result<void> RecordStore::prepare_change(const KeyId& id, DroppedChange change) {
  std::lock_guard lock(write_mutex_);
  if (auto last = writes_last(); !last.ok()) return last;
  Txn txn(*tables_, true);
  if (txn.begun() != 0) return failed(kChangingDropped, txn.begun());
  auto row = dropped_row(txn, id);
  if (!row) return row.error();
  if (!*row) return fail("store: there is no dropped key " + to_hex(id));
  if ((*row)->state != DroppedState::kDropped)
    return fail("store: dropped key " + to_hex(id) + " is being changed already");
  const auto state =
      change == DroppedChange::kPurge ? DroppedState::kPurged : DroppedState::kGivenBack;
  int rc = put_dropped(txn, id, {state, (*row)->at_s});
  if (rc == 0) rc = txn->commit();
  if (rc != 0) return failed(kChangingDropped, rc);
  return {};
}

Result<void> RecordStore::commit_change(Txn& txn, const KeyId& id) {
  const KeyId purged = purge_entry(id);
  auto row = dropped_row(txn, purged);
  if (!row) return row.error();
  if (*row && (*row)->state == DroppedState::kPurged) return bury(txn, purged);
  row = dropped_row(txn, id);
  if (!row) return row.error();
  if (!*row) return move_to_committed(txn, id);
  if ((*row)->state == DroppedState::kPurged) return bury(txn, id);
  if ((*row)->state != DroppedState::kGivenBack)
    return fail("store: dropped key " + to_hex(id) + " was not to be changed");
  if (int rc = txn->erase(kDropped, id); rc != 0) return failed(kChangingDropped, rc);
  return {};
}

// A key that was prepared goes; one that is dropped stays so.
Result<void> RecordStore::undo_change(Txn& txn, const KeyId& id) {
  int rc = 0;
  bool dropped = false;
  for (const KeyId& one : {id, purge_entry(id)}) {
    auto row = dropped_row(txn, one);
    if (!row) return row.error();
    if (!*row) continue;
    dropped = true;
    rc = put_dropped(txn, one, {DroppedState::kDropped, (*row)->at_s});
  }
  if (!dropped) {
    rc = txn->erase(kPrepared, id);
    ByteSpan there;
    if (rc == 0 && txn->find(kCommitted, id, there) == Tables::kNotFound)
      rc = txn->erase(kMacs, id);
  }
  if (rc != 0) return failed("dropping a prepared key", rc);
  return {};
}

// A peer that was to drop a key has buried it, as far as its condemnation goes.
Result<bool> RecordStore::buried(const KeyId& id) {
  auto tombstone = holds(kTombstones, id);
  if (!tombstone || *tombstone) return tombstone;
  return holds(kDropped, id);
}

// Each row by its header, which the seal covers; the seal itself is looked at where a row is used.
Result<void> RecordStore::each_dropped_header(
    const std::function<void(const KeyId&, const DroppedRow&)>& look) {
  Result<void> sound;
  Txn txn(*tables_, false);
  int rc = txn.begun();
  if (rc == 0)
    rc = txn->each(kDropped, [&](ByteSpan name, ByteSpan value) {
      DroppedRow row;
      ByteSpan header;
      if (name.size() != KeyId().size() ||
          !StoreCipher::header(value, kDroppedHeaderBytes, header) ||
          !decode_dropped(header, row.state, row.at_s))
        sound = corrupt(kDropped, id_in(name));
      else
        look(id_in(name), row);
      return sound.ok();
    });
  if (sound.ok() && rc != 0) return failed("listing dropped keys", rc);
  return sound;
}

Result<std::vector<KeyId>> RecordStore::changing() {
  std::vector<KeyId> out;
  auto looked = each_dropped_header([&](const KeyId& id, const DroppedRow& row) {
    if (row.state != DroppedState::kDropped)
      out.push_back(row.state == DroppedState::kPurged ? purge_entry(id) : id);
  });
  if (!looked.ok()) return looked.error();
  return out;
}

Result<std::optional<std::uint64_t>> RecordStore::dropped_first_at() {
  std::optional<std::uint64_t> out;
  auto looked = each_dropped_header([&](const KeyId&, const DroppedRow& row) {
    out = std::min(out.value_or(row.at_s), row.at_s);
  });
  if (!looked.ok()) return looked.error();
  return out;
}

Result<std::vector<DroppedKey>> RecordStore::dropped_behind(const KeyId& after, std::size_t most) {
  std::vector<DroppedKey> out;
  Result<void> sound;
  Txn txn(*tables_, false);
  int rc = txn.begun();
  if (rc == 0 && most > 0)
    rc = txn->each_after(kDropped, after, [&](ByteSpan name, ByteSpan) {
      const KeyId id = id_in(name);
      auto row = name.size() == id.size()
                     ? dropped_row(txn, id)
                     : Result<std::optional<DroppedRow>>(corrupt(kDropped, id));
      if (row.ok() && *row)
        out.push_back({id, (*row)->at_s});
      else
        sound = row.ok() ? corrupt(kDropped, id) : row.error();
      return sound.ok() && out.size() < most;
    });
  if (!sound.ok()) return sound.error();
  if (rc != 0) return failed("listing dropped keys", rc);
  return out;
}

std::size_t RecordStore::dropped_count() {
  Txn txn(*tables_, false);
  std::size_t entries = 0;
  if (txn.begun() != 0 || txn->count(kDropped, entries) != 0) return 0;
  return entries;
}

Result<std::shared_ptr<const KeyRecord>> RecordStore::dropped_record(const KeyId& id) {
  return read_again([&] { return read_dropped(id); }, [](const auto& key) { return key.ok(); });
}

Result<std::shared_ptr<const KeyRecord>> RecordStore::read_dropped(const KeyId& id) {
  Txn txn(*tables_, false);
  if (txn.begun() != 0) return failed("reading a dropped key", txn.begun());
  auto row = dropped_row(txn, id);
  if (!row) return row.error();
  if (!*row) return std::shared_ptr<const KeyRecord>();
  ByteSpan value;
  const int rc = txn->find(kCommitted, id, value);
  if (rc != 0) return failed("reading a dropped key", rc);
  auto record = std::make_shared<KeyRecord>();
  if (!decode(kCommitted, id, value, *record)) return corrupt(kCommitted, id);
  record->dropped_at_s = (*row)->at_s;
  return std::shared_ptr<const KeyRecord>(std::move(record));
}

}  // namespace tkdc
