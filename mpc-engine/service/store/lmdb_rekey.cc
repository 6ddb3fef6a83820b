// SPDX-License-Identifier: Apache-2.0
// The store's keys are changed: a new one is drawn, every value is rewritten under it, and the old
// one is forgotten. Between any two steps the store may be closed, by a crash too, and be used by
// its server or taken up again here: values under either key are read (sealed.h).
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "service/store/lmdb_store.h"

namespace tkdc {

Result<void> LmdbStore::begin_rekey(const SecretBuffer& wrapping, const SecretBuffer& next) {
  std::lock_guard lock(write_mutex_);
  // One that was begun before is ended with the key that was drawn then.
  if (!keys_.previous) {
    keys_.previous = std::move(keys_.current);
    keys_.current = draw_store_key();
  }
  // Both wrapping keys: which of them the unit has is decided by whoever calls this.
  if (auto written = keyring_.write(keys_, {&wrapping, &next}); !written) return written;
  two_levels_ = true;
  use_keys();
  // From here on a release that knows no keyring refuses the store by its format.
  return write("changing the store's keys",
               [&](LmdbTxn& txn) { return put(txn, kMeta, octets("owner"), owner_record()); });
}

Result<std::size_t> LmdbStore::reseal(std::size_t most, RekeyAt& at) {
  std::lock_guard lock(write_mutex_);
  LmdbTxn txn(env_, 0);
  int rc = txn.begun();
  if (rc != 0) return failed("changing the store's keys", rc);
  std::size_t seen = 0;
  for (; rc == 0 && at.table < kTables && seen < most; ++at.table, at.name.clear()) {
    auto some = reseal_table(txn, most - seen, at);
    if (!some) return some.error();
    seen += *some;
    if (seen >= most) break;
  }
  rc = txn.commit();
  if (rc != 0) return failed("changing the store's keys", rc);
  return seen;
}

// From behind `at.name` on, at most so many; where there are more, `at.name` is the last one seen.
Result<std::size_t> LmdbStore::reseal_table(LmdbTxn& txn, std::size_t most, RekeyAt& at) {
  const auto table = static_cast<Table>(at.table);
  MDB_cursor* cursor = nullptr;
  int rc = mdb_cursor_open(txn.get(), dbi_[table], &cursor);
  if (rc != 0) return failed("changing the store's keys", rc);
  MDB_val k = lmdb_val(at.name), v{};
  rc = mdb_cursor_get(cursor, &k, &v, at.name.empty() ? MDB_FIRST : MDB_SET_RANGE);
  const ByteSpan behind(at.name);
  if (rc == 0 && !at.name.empty() && std::ranges::equal(lmdb_span(k), behind))
    rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
  std::size_t seen = 0;
  Result<void> done;
  for (; rc == 0 && seen < most; rc = mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) {
    const ByteSpan name = lmdb_span(k);
    at.name.assign(name.begin(), name.end());
    seen++;
    done = reseal_value(cursor, table, at.name, lmdb_span(v));
    if (!done) break;
  }
  mdb_cursor_close(cursor);
  if (!done) return done.error();
  if (rc != 0 && rc != MDB_NOTFOUND) return failed("changing the store's keys", rc);
  return seen;
}

Result<void> LmdbStore::reseal_value(MDB_cursor* cursor, Table table, const Bytes& name,
                                     ByteSpan value) {
  if (table == kMeta && std::ranges::equal(name, octets("owner"))) return {};  // in the clear
  SecretVector plain;
  if (sealer_.open(kTableNames[table], name, value, plain, Sealer::Under::kCurrent)) return {};
  if (!sealer_.open(kTableNames[table], name, value, plain)) {
    KeyId id{};
    std::memcpy(id.data(), name.data(), std::min(name.size(), id.size()));
    return corrupt(table, id);
  }
  const Bytes sealed = sealer_.seal(kTableNames[table], name, value.subspan(1, value[0]), plain);
  MDB_val k = lmdb_val(name), v = lmdb_val(sealed);
  const int rc = mdb_cursor_put(cursor, &k, &v, MDB_CURRENT);
  if (rc != 0) return failed("changing the store's keys", rc);
  return {};
}

Result<void> LmdbStore::end_rekey(const SecretBuffer& next) {
  std::lock_guard lock(write_mutex_);
  StoreKeys only{copy_of(keys_.current), std::nullopt};
  if (auto written = keyring_.write(only, {&next}); !written) return written;
  keys_.previous.reset();
  use_keys();
  return {};
}

}  // namespace tkdc
