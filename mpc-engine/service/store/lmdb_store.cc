// SPDX-License-Identifier: Apache-2.0
#include "service/store/lmdb_store.h"

#include <algorithm>
#include <cstring>

#include "base/hex.h"
#include "service/store/record_codec.h"

namespace tkdc {
namespace {

constexpr std::size_t kCachedRecords = 16'384;
constexpr std::string_view kTableNames[] = {"committed", "prepared",  "tombstones",
                                            "meta",      "condemned", "seals"};

// What of a record stands in the clear: kvno, enctype, version.
constexpr std::size_t kHeaderBytes = 12;

// What prepare() leaves free for the calls that must not fail for want of room: LMDB writes a
// page anew to change it, and has the old one back two transactions later at the earliest.
constexpr std::size_t kReservedPages = 64;
constexpr std::size_t kTreePagesPerCommit = 8;
constexpr std::size_t kPageHeadBytes = 64;  // more than LMDB has in a page of a value

Bytes header_of(const KeyRecord& record) {
  Bytes header;
  Writer w(header);
  w.u32(record.ref.kvno);
  w.u32(record.ref.enctype);
  w.u32(record.version);
  return header;
}

}  // namespace

LmdbStore::LmdbStore(const StoreOptions& options, const SecretBuffer& key)
    : options_(options), sealer_(key, options.installation, options.party), cache_(kCachedRecords) {
}

LmdbStore::~LmdbStore() {
  if (env_ != nullptr) mdb_env_close(env_);
}

Error LmdbStore::failed(const std::string& step, int rc) const {
  std::string advice;
  if (rc == MDB_MAP_FULL) advice = "; raise [store] map_size_mib and restart";
  // LMDB reports a short write, which a full disk gives, as an I/O error.
  if (rc == ENOSPC || rc == EIO) advice = "; free space on that file system, or check the disk";
  return fail("store: " + step + " in " + options_.path + " failed: " + mdb_strerror(rc) + advice +
              "; the store is unchanged");
}

Error LmdbStore::corrupt(Table table, const KeyId& id) const {
  return fail("store: the " + std::string(kTableNames[table]) + " record " + to_hex(id) + " in " +
              options_.path +
              " is corrupt, or was taken from another installation, party or "
              "key; restore the store from its backup or repair this server");
}

int LmdbStore::put(LmdbTxn& txn, Table table, ByteSpan name, ByteSpan value) {
  MDB_val k = lmdb_val(name), v = lmdb_val(value);
  return mdb_put(txn.get(), dbi_[table], &k, &v, 0);
}

int LmdbStore::find(LmdbTxn& txn, Table table, ByteSpan name, MDB_val* value) {
  MDB_val k = lmdb_val(name);
  return mdb_get(txn.get(), dbi_[table], &k, value);
}

int LmdbStore::erase(LmdbTxn& txn, Table table, ByteSpan name) {
  MDB_val k = lmdb_val(name);
  int rc = mdb_del(txn.get(), dbi_[table], &k, nullptr);
  return rc == MDB_NOTFOUND ? 0 : rc;
}

bool LmdbStore::decode(Table table, const KeyId& id, ByteSpan value, KeyRecord& record) const {
  SecretVector plaintext;
  return sealer_.open(kTableNames[table], id, value, plaintext) &&
         decode_record(plaintext, record) && record.ref.id == id &&
         record.ref.installation == options_.installation;
}

// Zero, or why one more record of this size cannot be prepared so that all that are prepared can
// still be committed, and any key be removed after that. Pages behind the last one ever used are
// free for certain. Of those given back LMDB may not have some yet, nor enough in a row, so where
// they are needed, what has to fit is put, and not committed.
int LmdbStore::check_room(std::size_t value_bytes) {
  MDB_envinfo info{};
  MDB_stat stat{};
  mdb_env_info(env_, &info);
  mdb_env_stat(env_, &stat);
  LmdbTxn txn(env_, 0);
  MDB_stat prepared{};
  int rc = txn.begun();
  if (rc == 0) rc = mdb_stat(txn.get(), dbi_[kPrepared], &prepared);
  if (rc != 0) return rc;
  const std::size_t values = prepared.ms_entries + 2;  // this one is prepared, then committed
  const std::size_t pages = kReservedPages + values * kTreePagesPerCommit;
  const std::size_t all = info.me_mapsize / stat.ms_psize, used = info.me_last_pgno + 1;
  if (used + pages + values * (value_bytes / stat.ms_psize + 2) <= all) return 0;

  std::uint8_t name[20] = {};  // longer than a record's, so that it is none
  std::uint32_t number = 0;
  auto reserve = [&](std::size_t bytes) {
    std::memcpy(name, &++number, sizeof number);
    MDB_val k = {sizeof name, name}, v = {bytes, nullptr};
    return mdb_put(txn.get(), dbi_[kPrepared], &k, &v, MDB_RESERVE);
  };
  for (std::size_t k = 0; rc == 0 && k < values; ++k) rc = reserve(value_bytes);
  for (std::size_t k = 0; rc == 0 && k < pages; ++k) rc = reserve(stat.ms_psize - kPageHeadBytes);
  return rc;
}

Result<void> LmdbStore::prepare(const KeyRecord& record) {
  if (record.ref.installation != options_.installation)
    return fail("store: key " + to_hex(record.ref.id) + " belongs to another installation");
  SecretVector plaintext = encode_record(record, epochs().era);
  KeyRecord again;
  if (!decode_record(plaintext, again))
    return fail("store: key " + to_hex(record.ref.id) + " has fields beyond the store's limits");
  Bytes value = sealer_.seal(kTableNames[kPrepared], record.ref.id, header_of(record), plaintext);

  std::lock_guard lock(write_mutex_);
  if (int full = check_room(value.size()); full != 0) return failed("preparing a key", full);
  LmdbTxn txn(env_, 0);
  if (txn.begun() != 0) return failed("preparing a key", txn.begun());
  for (Table table : {kCommitted, kPrepared, kTombstones}) {
    MDB_val existing;
    int rc = find(txn, table, record.ref.id, &existing);
    if (rc == 0)
      return fail("store: key " + to_hex(record.ref.id) + " exists already (" +
                  std::string(kTableNames[table]) + ")");
    if (rc != MDB_NOTFOUND) return failed("preparing a key", rc);
  }
  int rc = put(txn, kPrepared, record.ref.id, value);
  if (rc == 0) rc = txn.commit();
  if (rc != 0) return failed("preparing a key", rc);
  return {};
}

// Sealed anew, because the table is part of what is authenticated.
Result<void> LmdbStore::move_to_committed(LmdbTxn& txn, const KeyId& id) {
  MDB_val value;
  int rc = find(txn, kPrepared, id, &value);
  if (rc == MDB_NOTFOUND) {
    if (find(txn, kCommitted, id, &value) == 0) return {};
    return fail("store: key " + to_hex(id) + " was never prepared");
  }
  if (rc != 0) return failed("committing a key", rc);
  KeyRecord record;
  if (!decode(kPrepared, id, lmdb_span(value), record)) return corrupt(kPrepared, id);
  SecretVector plaintext = encode_record(record);
  Bytes sealed = sealer_.seal(kTableNames[kCommitted], id, header_of(record), plaintext);
  rc = put(txn, kCommitted, id, sealed);
  if (rc == 0) rc = erase(txn, kPrepared, id);
  if (rc != 0) return failed("committing a key", rc);
  return {};
}

Result<void> LmdbStore::write(const char* step, const std::function<int(LmdbTxn&)>& change) {
  LmdbTxn txn(env_, 0);
  int rc = txn.begun();
  if (rc == 0) rc = change(txn);
  if (rc == 0) rc = txn.commit();
  if (rc != 0) return failed(step, rc);
  return {};
}

Result<void> LmdbStore::move_key(const char* step, const KeyId& id,
                                 Result<void> (LmdbStore::*move)(LmdbTxn&, const KeyId&)) {
  std::lock_guard lock(write_mutex_);
  LmdbTxn txn(env_, 0);
  if (txn.begun() != 0) return failed(step, txn.begun());
  auto moved = (this->*move)(txn, id);
  if (!moved.ok()) return moved;
  int rc = txn.commit();
  if (rc != 0) return failed(step, rc);
  cache_.forget(id);
  return {};
}

Result<void> LmdbStore::commit(const KeyId& id) {
  return move_key("committing a key", id, &LmdbStore::move_to_committed);
}

Result<void> LmdbStore::abandon(const KeyId& id) {
  std::lock_guard lock(write_mutex_);
  return write("dropping a prepared key", [&](LmdbTxn& txn) { return erase(txn, kPrepared, id); });
}

Result<void> LmdbStore::condemn(const KeyId& id) {
  std::lock_guard lock(write_mutex_);
  LmdbTxn txn(env_, 0);
  if (txn.begun() != 0) return failed("condemning a key", txn.begun());
  MDB_val value;
  int rc = find(txn, kCommitted, id, &value);
  if (rc == MDB_NOTFOUND) return fail("store: there is no key " + to_hex(id) + " to remove");
  if (rc == 0) rc = put(txn, kCondemned, id, sealer_.seal(kTableNames[kCondemned], id, {}, {}));
  if (rc == 0) rc = txn.commit();
  if (rc != 0) return failed("condemning a key", rc);
  return {};
}

Result<void> LmdbStore::pardon(const KeyId& id) {
  std::lock_guard lock(write_mutex_);
  return write("keeping a key", [&](LmdbTxn& txn) { return erase(txn, kCondemned, id); });
}

Result<void> LmdbStore::bury(LmdbTxn& txn, const KeyId& id) {
  MDB_val value;
  int rc = find(txn, kCommitted, id, &value);
  if (rc == MDB_NOTFOUND) {
    rc = erase(txn, kPrepared, id);
    return rc == 0 ? Result<void>() : Result<void>(failed("destroying a key", rc));
  }
  if (rc != 0) return failed("destroying a key", rc);
  ByteSpan header;
  if (!Sealer::header(lmdb_span(value), kHeaderBytes, header)) return corrupt(kCommitted, id);
  Bytes tombstone = sealer_.seal(kTableNames[kTombstones], id, header, {});
  rc = put(txn, kTombstones, id, tombstone);
  if (rc == 0) rc = erase(txn, kCommitted, id);
  if (rc == 0) rc = erase(txn, kPrepared, id);
  if (rc == 0) rc = erase(txn, kCondemned, id);
  if (rc == 0) rc = erase(txn, kSeals, id);
  if (rc != 0) return failed("destroying a key", rc);
  return {};
}

Result<void> LmdbStore::destroy(const KeyId& id) {
  return move_key("destroying a key", id, &LmdbStore::bury);
}

Result<std::shared_ptr<const KeyRecord>> LmdbStore::get(const KeyId& id) {
  std::uint64_t generation = 0;
  if (auto cached = cache_.get(id, &generation)) return cached;
  LmdbTxn txn(env_, MDB_RDONLY);
  if (txn.begun() != 0) return failed("reading a key", txn.begun());
  MDB_val value;
  int rc = find(txn, kCommitted, id, &value);
  if (rc == MDB_NOTFOUND) return std::shared_ptr<const KeyRecord>();
  if (rc != 0) return failed("reading a key", rc);
  auto record = std::make_shared<KeyRecord>();
  if (!decode(kCommitted, id, lmdb_span(value), *record)) return corrupt(kCommitted, id);
  record->open_only = record->era != epochs().era;
  std::shared_ptr<const KeyRecord> out = std::move(record);
  cache_.put(out, generation);
  return out;
}

Result<std::vector<KeyId>> LmdbStore::ids_of(Table table) {
  std::vector<KeyId> ids;
  LmdbTxn txn(env_, MDB_RDONLY);
  MDB_cursor* cursor = nullptr;
  int rc = txn.begun();
  if (rc == 0) rc = mdb_cursor_open(txn.get(), dbi_[table], &cursor);
  if (rc != 0) return failed("listing half made keys", rc);
  MDB_val k, v;
  bool sound = true;
  while (sound && (rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) == 0) {
    KeyId id{};
    std::memcpy(id.data(), k.mv_data, std::min(k.mv_size, id.size()));
    sound = k.mv_size == id.size();
    ids.push_back(id);
  }
  mdb_cursor_close(cursor);
  if (!sound) return corrupt(table, ids.back());
  if (rc != MDB_NOTFOUND) return failed("listing half made keys", rc);
  return ids;
}

Result<bool> LmdbStore::holds(Table table, const KeyId& id) {
  LmdbTxn txn(env_, MDB_RDONLY);
  MDB_val value;
  int rc = txn.begun();
  if (rc == 0) rc = find(txn, table, id, &value);
  if (rc != 0 && rc != MDB_NOTFOUND) return failed("looking up a half made key", rc);
  return rc == 0;
}

std::size_t LmdbStore::count() {
  LmdbTxn txn(env_, MDB_RDONLY);
  MDB_stat stat{};
  if (txn.begun() != 0 || mdb_stat(txn.get(), dbi_[kCommitted], &stat) != 0) return 0;
  return stat.ms_entries;
}

Result<void> LmdbStore::hash_table(LmdbTxn& txn, Table table, crypto_generichash_state* state) {
  MDB_cursor* cursor = nullptr;
  int rc = mdb_cursor_open(txn.get(), dbi_[table], &cursor);
  if (rc != 0) return failed("taking the inventory", rc);
  MDB_val k, v;
  Result<void> result;
  while (result.ok() && (rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) == 0) {
    KeyId id{};
    ByteSpan header;
    if (k.mv_size != id.size() || !Sealer::header(lmdb_span(v), kHeaderBytes, header)) {
      std::memcpy(id.data(), k.mv_data, std::min(k.mv_size, id.size()));
      result = corrupt(table, id);
      break;
    }
    crypto_generichash_update(state, static_cast<const std::uint8_t*>(k.mv_data), k.mv_size);
    crypto_generichash_update(state, header.data(), header.size());
  }
  mdb_cursor_close(cursor);
  if (result.ok() && rc != MDB_NOTFOUND) return failed("taking the inventory", rc);
  return result;
}

Result<Digest> LmdbStore::inventory() {
  LmdbTxn txn(env_, MDB_RDONLY);
  if (txn.begun() != 0) return failed("taking the inventory", txn.begun());
  Digest digest{};
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, digest.size());
  for (Table table : {kCommitted, kTombstones}) {
    crypto_generichash_update(&state, octets(kTableNames[table]).data(), kTableNames[table].size());
    auto hashed = hash_table(txn, table, &state);
    if (!hashed.ok()) return hashed.error();
  }
  crypto_generichash_final(&state, digest.data(), digest.size());
  return digest;
}

}  // namespace tkdc
