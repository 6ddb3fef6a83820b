// SPDX-License-Identifier: Apache-2.0
#include "service/store/record_store.h"

#include <algorithm>
#include <cstring>

#include "base/hex.h"
#include "service/store/lmdb_tables.h"
#include "service/store/record_codec.h"

namespace tkdc {
namespace {

constexpr std::size_t kCachedRecords = 16'384;

constexpr std::size_t kHeaderBytes = kRecordHeaderBytes;

}  // namespace

RecordStore::RecordStore(const StoreOptions& options, const SecretBuffer& key,
                         std::unique_ptr<Tables> tables, std::optional<Keyring> keyring)
    : options_(options), keyring_(std::move(keyring)),
      wrapping_(copy_of(key)), keys_{copy_of(key), std::nullopt},
      cipher_(key, options.installation, options.party), cache_(kCachedRecords),
      tables_(std::make_unique<PairedTables>(std::move(tables))) {}

Error RecordStore::failed(const std::string& step, int rc) const {
  return fail(tables_failed(step, options_.path, rc));
}

Error RecordStore::corrupt(Table table, const KeyId& id) const {
  return fail("store: the " + std::string(Tables::kNames[table]) + " record " + to_hex(id) +
              " in " + options_.path +
              " is corrupt, or was taken from another installation, party or "
              "key; restore the store from its backup or repair this server");
}

bool RecordStore::decode(Table table, const KeyId& id, ByteSpan value, KeyRecord& record) const {
  SecretVector plaintext;
  return row_ciphers()->serving().decrypt(Tables::kNames[table], id, value, plaintext) &&
         is_record(plaintext, id, record);
}

bool RecordStore::decode(Table table, const KeyId& id, ByteSpan value, KeyRecord& record,
                         PageReader& reader) const {
  return row_ciphers()->serving().decrypt(Tables::kNames[table], id, value, reader.plaintext,
                                          StoreCipher::Under::kAny, &reader.values) &&
         is_record(reader.plaintext, id, record);
}

bool RecordStore::is_record(ByteSpan plaintext, const KeyId& id, KeyRecord& record) const {
  return decode_record(plaintext, record) && record.ref.id == id &&
         record.ref.installation == options_.installation;
}

Result<void> RecordStore::prepare(const KeyRecord& record) {
  if (record.ref.installation != options_.installation)
    return fail("store: key " + to_hex(record.ref.id) + " belongs to another installation");
  // The handshake would take it for a refresh, or a move.
  const EntryId purge = purge_entry(record.ref.id);
  if (refresh_of(record.ref.id) || move_of(record.ref.id) || refresh_of(purge) || move_of(purge))
    return fail("store: key " + to_hex(record.ref.id) + " has an id that no key may have");
  SecretVector plaintext = encode_record(record, epochs().era);
  KeyRecord again;
  if (!decode_record(plaintext, again))
    return fail("store: key " + to_hex(record.ref.id) + " has fields beyond the store's limits");

  std::lock_guard lock(write_mutex_);
  if (auto last = writes_last(); !last.ok()) return last;
  const Bytes value = row_ciphers()->serving().encrypt(Tables::kNames[kPrepared], record.ref.id,
                                                       record_header(record), plaintext);
  const std::size_t tags = record.macs ? 2 * record.macs->tag[0].size() : 0;
  if (int full = tables_->check_room(kPrepared, value.size() + tags); full != 0)
    return failed("preparing a key", full);
  Txn txn(*tables_, true);
  if (txn.begun() != 0) return failed("preparing a key", txn.begun());
  for (Table table : {kCommitted, kPrepared, kTombstones}) {
    ByteSpan existing;
    int rc = txn->find(table, record.ref.id, existing);
    if (rc == 0)
      return fail("store: key " + to_hex(record.ref.id) + " exists already (" +
                  std::string(Tables::kNames[table]) + ")");
    if (rc == Tables::kNotFound) rc = txn->find(table, purge_entry(record.ref.id), existing);
    if (rc == 0)
      return fail("store: key " + to_hex(record.ref.id) + " has an id that no key may have");
    if (rc != Tables::kNotFound) return failed("preparing a key", rc);
  }
  int rc = txn->put(kPrepared, record.ref.id, value);
  if (rc == 0 && record.macs) rc = put_macs(txn, record.ref.id, *record.macs);
  if (rc == 0) rc = txn->commit();
  if (rc != 0) return failed("preparing a key", rc);
  return {};
}

// Encrypted anew, because the table is part of what is authenticated.
Result<void> RecordStore::move_to_committed(Txn& txn, const KeyId& id) {
  ByteSpan value;
  int rc = txn->find(kPrepared, id, value);
  if (rc == Tables::kNotFound) {
    if (txn->find(kCommitted, id, value) == 0) return {};
    return fail("store: key " + to_hex(id) + " was never prepared");
  }
  if (rc != 0) return failed("committing a key", rc);
  KeyRecord record;
  if (!decode(kPrepared, id, value, record)) return corrupt(kPrepared, id);
  SecretVector plaintext = encode_record(record);
  const Bytes anew = row_ciphers()->serving().encrypt(Tables::kNames[kCommitted], id,
                                                      record_header(record), plaintext);
  rc = txn->put(kCommitted, id, anew);
  if (rc == 0) rc = txn->erase(kPrepared, id);
  if (rc != 0) return failed("committing a key", rc);
  return {};
}

Result<void> RecordStore::write(const char* step, const std::function<int(Txn&)>& change) {
  Txn txn(*tables_, true);
  int rc = txn.begun();
  if (rc == 0) rc = change(txn);
  if (rc == 0) rc = txn->commit();
  if (rc != 0) return failed(step, rc);
  return {};
}

Result<void> RecordStore::move_key(const char* step, const KeyId& id,
                                   Result<void> (RecordStore::*move)(Txn&, const KeyId&)) {
  std::lock_guard lock(write_mutex_);
  Txn txn(*tables_, true);
  if (txn.begun() != 0) return failed(step, txn.begun());
  auto moved = (this->*move)(txn, id);
  if (!moved.ok()) return moved;
  bool dropped = has_dropped_;
  int rc = note_dropped(txn, dropped);
  if (rc == 0) rc = txn->commit();
  if (rc != 0) return failed(step, rc);
  has_dropped_ = dropped;
  cache_.forget(id);
  return {};
}

Result<std::vector<KeyId>> RecordStore::prepared() {
  auto ids = ids_of(kPrepared);
  if (!ids.ok()) return ids;
  if (const auto entry = prepared_refresh()) ids->push_back(*entry);
  auto move = move_state();
  if (!move) return move.error();
  if (const auto entry = prepared_move(*move)) ids->push_back(*entry);
  auto more = changing();
  if (!more) return more;
  ids->insert(ids->end(), more->begin(), more->end());
  return ids;
}

Result<bool> RecordStore::committed(const KeyId& id) {
  if (const auto epoch = refresh_of(id)) return has_refreshed(*epoch);
  if (const auto number = move_of(id)) {
    auto last = last_move();
    if (!last) return last.error();
    return *number <= *last;
  }
  Txn txn(*tables_, false);
  if (txn.begun() != 0) return failed("looking up a half made key", txn.begun());
  // A peer's that is to be purged, or given back, stays dropped where it is so here.
  auto row = dropped_row(txn, id);
  if (!row) return row.error();
  if (*row) return false;
  ByteSpan value;
  int rc = txn->find(kCommitted, id, value);
  if (rc == Tables::kNotFound) rc = txn->find(kTombstones, purge_entry(id), value);
  if (rc != 0 && rc != Tables::kNotFound) return failed("looking up a half made key", rc);
  return rc == 0;
}

Result<void> RecordStore::commit(const KeyId& id) {
  if (const auto epoch = refresh_of(id)) {
    auto done = commit_to(*epoch);
    if (done.ok()) switch_over();
    return done;
  }
  if (const auto number = move_of(id)) return commit_move(*number);
  return move_key("committing a key", id, &RecordStore::commit_change);
}

Result<void> RecordStore::abandon(const KeyId& id) {
  if (const auto epoch = refresh_of(id)) return abandon_to(*epoch);
  if (const auto number = move_of(id)) return abandon_move(*number);
  return move_key("dropping a prepared key", id, &RecordStore::undo_change);
}

Result<void> RecordStore::condemn(const KeyId& id) { return condemn_with(id, {}); }

Result<void> RecordStore::condemn_with(const KeyId& id, ByteSpan sentence) {
  std::lock_guard lock(write_mutex_);
  Txn txn(*tables_, true);
  if (txn.begun() != 0) return failed("condemning a key", txn.begun());
  ByteSpan value;
  int rc = txn->find(kCommitted, id, value);
  auto row = dropped_row(txn, id);
  if (!row) return row.error();
  if (rc == Tables::kNotFound || *row)
    return fail("store: there is no key " + to_hex(id) + " to remove");
  if (rc == 0)
    rc = txn->put(kCondemned, id, cipher_.encrypt(Tables::kNames[kCondemned], id, {}, sentence));
  if (rc == 0) rc = txn->commit();
  if (rc != 0) return failed("condemning a key", rc);
  return {};
}

Result<void> RecordStore::pardon(const KeyId& id) {
  std::lock_guard lock(write_mutex_);
  return write("keeping a key", [&](Txn& txn) { return txn->erase(kCondemned, id); });
}

Result<void> RecordStore::bury(Txn& txn, const KeyId& id) {
  ByteSpan value;
  int rc = txn->find(kCommitted, id, value);
  if (rc == Tables::kNotFound) {
    rc = txn->erase(kPrepared, id);
    if (rc == 0) rc = txn->erase(kMacs, id);
    return rc == 0 ? Result<void>() : Result<void>(failed("destroying a key", rc));
  }
  if (rc != 0) return failed("destroying a key", rc);
  ByteSpan header;
  if (!StoreCipher::header(value, kHeaderBytes, header)) return corrupt(kCommitted, id);
  Bytes tombstone = cipher_.encrypt(Tables::kNames[kTombstones], id, header, {});
  rc = txn->put(kTombstones, id, tombstone);
  if (rc == 0) rc = txn->erase(kCommitted, id);
  if (rc == 0) rc = txn->erase(kPrepared, id);
  if (rc == 0) rc = txn->erase(kCondemned, id);
  if (rc == 0) rc = txn->erase(kSeals, id);
  for (Table table : {kMacs, kNext, kNextMacs, kDropped})
    if (rc == 0) rc = txn->erase(table, id);
  if (rc != 0) return failed("destroying a key", rc);
  return {};
}

Result<void> RecordStore::destroy(const KeyId& id) {
  return move_key("destroying a key", id, &RecordStore::drop_or_bury);
}

Result<std::shared_ptr<const KeyRecord>> RecordStore::get(const KeyId& id) {
  return read_again([&] { return read_key(id); }, [](const auto& key) { return key.ok(); });
}

Result<std::shared_ptr<const KeyRecord>> RecordStore::read_key(const KeyId& id) {
  std::uint64_t generation = 0;
  if (auto cached = cache_.get(id, &generation)) return cached;
  Txn txn(*tables_, false);
  if (txn.begun() != 0) return failed("reading a key", txn.begun());
  ByteSpan value;
  int rc = txn->find(kCommitted, id, value);
  if (rc == Tables::kNotFound) return std::shared_ptr<const KeyRecord>();
  if (rc != 0) return failed("reading a key", rc);
  auto row = dropped_row(txn, id);
  if (!row) return row.error();
  if (*row) return std::shared_ptr<const KeyRecord>();
  auto record = std::make_shared<KeyRecord>();
  if (!decode(kCommitted, id, value, *record)) return corrupt(kCommitted, id);
  record->open_only = record->era != epochs().era;
  std::shared_ptr<const KeyRecord> out = std::move(record);
  cache_.put(out, generation);
  return out;
}

Result<std::vector<KeyId>> RecordStore::ids_of(Table table) {
  std::vector<KeyId> ids;
  Txn txn(*tables_, false);
  bool sound = true;
  int rc = txn.begun();
  if (rc == 0)
    rc = txn->each(table, [&](ByteSpan name, ByteSpan) {
      KeyId id{};
      std::copy_n(name.begin(), std::min(name.size(), id.size()), id.begin());
      sound = name.size() == id.size();
      ids.push_back(id);
      return sound;
    });
  if (!sound) return corrupt(table, ids.back());
  if (rc != 0) return failed("listing half made keys", rc);
  return ids;
}

Result<std::vector<KeyId>> RecordStore::ids_behind(const KeyId& after, std::size_t most) {
  std::vector<KeyId> ids;
  Txn txn(*tables_, false);
  int rc = txn.begun();
  if (rc == 0)
    rc = txn->each_after(kCommitted, after, [&](ByteSpan name, ByteSpan) {
      ByteSpan row;
      if (name.size() != after.size() || txn->find(kDropped, name, row) == 0) return true;
      std::ranges::copy(name, ids.emplace_back().begin());
      return ids.size() < most;
    });
  if (rc != 0) return failed("listing keys", rc);
  return ids;
}

Result<bool> RecordStore::holds(Table table, const KeyId& id) {
  Txn txn(*tables_, false);
  ByteSpan value;
  int rc = txn.begun();
  if (rc == 0) rc = txn->find(table, id, value);
  if (rc != 0 && rc != Tables::kNotFound) return failed("looking up a half made key", rc);
  return rc == 0;
}

std::size_t RecordStore::count() {
  Txn txn(*tables_, false);
  std::size_t entries = 0;
  if (txn.begun() != 0 || txn->count(kCommitted, entries) != 0) return 0;
  return entries;
}

Result<void> RecordStore::hash_table(Txn& txn, Table table, std::size_t header_bytes,
                                     InventoryHash& inventory) {
  Result<void> result;
  const int rc = txn->each(table, [&](ByteSpan name, ByteSpan value) {
    KeyId id{};
    ByteSpan header;
    if (name.size() != id.size() || !StoreCipher::header(value, header_bytes, header)) {
      std::copy_n(name.begin(), std::min(name.size(), id.size()), id.begin());
      result = corrupt(table, id);
      return false;
    }
    inventory.add(name, header);
    return true;
  });
  if (rc != 0) return failed("taking the inventory", rc);
  return result;
}

Result<Digest> RecordStore::inventory() { return inventory_of(kCommitted, refresh_epoch()); }

Result<Digest> RecordStore::inventory_of(Table records, std::uint32_t epoch) {
  Txn txn(*tables_, false);
  if (txn.begun() != 0) return failed("taking the inventory", txn.begun());
  InventoryHash inventory;
  for (Table table : {records, kTombstones}) {
    inventory.begin_table(Tables::kNames[table]);
    auto hashed = hash_table(txn, table, kHeaderBytes, inventory);
    if (!hashed.ok()) return hashed.error();
  }
  // Stores without such keys have the inventory that they had before there were any.
  std::size_t dropped = 0;
  if (int rc = txn->count(kDropped, dropped); rc != 0) return failed("taking the inventory", rc);
  if (dropped > 0) {
    inventory.begin_table(Tables::kNames[kDropped]);
    auto hashed = hash_table(txn, kDropped, kDroppedHeaderBytes, inventory);
    if (!hashed.ok()) return hashed.error();
  }
  return inventory.finish(epoch);
}

}  // namespace tkdc
