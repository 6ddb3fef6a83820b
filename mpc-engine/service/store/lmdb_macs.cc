// SPDX-License-Identifier: Apache-2.0
// The table of MACs in LMDB, and the keys to it.
#include <algorithm>

#include "service/store/lmdb_store.h"

namespace tkdc {
namespace {

const ByteSpan kMacKeysName = octets("mac keys");
constexpr std::string_view kTable = "macs";

}  // namespace

int LmdbStore::put_macs(LmdbTxn& txn, const KeyId& id, const MacRow& row) {
  return put(txn, kMacs, id, sealer_.seal(kTable, id, {}, encode_mac_row(row)));
}

// Error: the record or its row is corrupt.
Result<StoredKey> LmdbStore::read_with_macs(LmdbTxn& txn, const KeyId& id, ByteSpan value) {
  StoredKey out;
  auto record = std::make_shared<KeyRecord>();
  if (!decode(kCommitted, id, value, *record)) return corrupt(kCommitted, id);
  out.record = std::move(record);
  MDB_val sealed;
  const int rc = find(txn, kMacs, id, &sealed);
  if (rc == MDB_NOTFOUND) return out;
  if (rc != 0) return failed("reading MACs", rc);
  SecretVector plaintext;
  if (!sealer_.open(kTable, id, lmdb_span(sealed), plaintext) ||
      !decode_mac_row(plaintext, out.macs.emplace()))
    return corrupt(kMacs, id);
  return out;
}

Result<std::vector<StoredKey>> LmdbStore::page(const std::optional<KeyId>& after,
                                               std::size_t most) {
  std::vector<StoredKey> out;
  LmdbTxn txn(env_, MDB_RDONLY);
  MDB_cursor* cursor = nullptr;
  int rc = txn.begun();
  if (rc == 0) rc = mdb_cursor_open(txn.get(), dbi_[kCommitted], &cursor);
  if (rc != 0) return failed("reading keys with their MACs", rc);
  KeyId at = after.value_or(KeyId{});
  MDB_val k = lmdb_val(at), v;
  rc = mdb_cursor_get(cursor, &k, &v, after ? MDB_SET_RANGE : MDB_FIRST);
  if (rc == 0 && after && std::ranges::equal(lmdb_span(k), *after))
    rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
  Result<void> sound;
  for (; rc == 0 && sound.ok() && out.size() < most;
       rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) {
    std::copy_n(lmdb_span(k).begin(), std::min(k.mv_size, at.size()), at.begin());
    auto key = k.mv_size == at.size() ? read_with_macs(txn, at, lmdb_span(v))
                                      : Result<StoredKey>(corrupt(kCommitted, at));
    if (key.ok())
      out.push_back(std::move(*key));
    else
      sound = key.error();
  }
  mdb_cursor_close(cursor);
  if (!sound.ok()) return sound.error();
  if (rc != 0 && rc != MDB_NOTFOUND) return failed("reading keys with their MACs", rc);
  return out;
}

Result<void> LmdbStore::put(std::span<const NamedMacs> rows) {
  std::size_t bytes = 0;
  for (const NamedMacs& one : rows) bytes += 256 + one.row.tag[0].size() + one.row.tag[1].size();
  std::lock_guard lock(write_mutex_);
  // Commits of keys must find room after this.
  if (int full = check_room(bytes); full != 0) return failed("storing MACs", full);
  return write("storing MACs", [&](LmdbTxn& txn) {
    int rc = 0;
    for (const NamedMacs& one : rows) {
      MDB_val there;
      rc = find(txn, kCommitted, one.id, &there);
      if (rc == 0) rc = put_macs(txn, one.id, one.row);
      if (rc == MDB_NOTFOUND) rc = 0;
      if (rc != 0) break;
    }
    return rc;
  });
}

std::size_t LmdbStore::rows() {
  LmdbTxn txn(env_, MDB_RDONLY);
  MDB_stat stat{};
  if (txn.begun() != 0 || mdb_stat(txn.get(), dbi_[kMacs], &stat) != 0) return 0;
  return stat.ms_entries;
}

Result<SecretVector> LmdbStore::keys() {
  SecretVector out;
  LmdbTxn txn(env_, MDB_RDONLY);
  MDB_val value;
  int rc = txn.begun();
  if (rc == 0) rc = find(txn, kMeta, kMacKeysName, &value);
  if (rc == MDB_NOTFOUND) return out;
  if (rc != 0) return failed("reading the MAC keys", rc);
  if (!sealer_.open("meta", kMacKeysName, lmdb_span(value), out))
    return fail("store: the MAC keys in " + options_.path +
                " are corrupt; restore the store from its backup");
  return out;
}

Result<void> LmdbStore::set_keys(ByteSpan keys) {
  std::lock_guard lock(write_mutex_);
  return write("storing the MAC keys", [&](LmdbTxn& txn) {
    return put(txn, kMeta, kMacKeysName, sealer_.seal("meta", kMacKeysName, {}, keys));
  });
}

}  // namespace tkdc
