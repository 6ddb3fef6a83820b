// SPDX-License-Identifier: Apache-2.0
// Two pairs of tables in LMDB, records and MACs: one serves, the other is empty or grows. The
// value "refresh" in meta says which serves, of which epoch, and whether the other is complete.
#include <algorithm>

#include "service/store/record_codec.h"

#include "service/store/lmdb_store.h"

namespace tkdc {
namespace {

const ByteSpan kRefreshName = octets("refresh");
constexpr std::uint8_t kRefreshFormat = 1;
constexpr std::string_view kEntryLabel = "tkdc refresh";  // 12 octets; then the epoch

}  // namespace

// format u8 | epoch u32 | at u64 | which pair u8 | prepared u8 | when it will have been u64
Bytes LmdbStore::encode_refresh() const {
  Bytes out;
  Writer w(out);
  w.u8(kRefreshFormat);
  w.u32(refresh_.epoch);
  w.u64(refresh_.at_s);
  w.u8(second_pair_ ? 1 : 0);
  w.u8(refresh_prepared_ ? 1 : 0);
  w.u64(refresh_prepared_at_s_);
  return out;
}

// A store that was never refreshed has no such value.
Result<void> LmdbStore::load_refresh(LmdbTxn& txn) {
  MDB_val value;
  const int rc = find(txn, kMeta, kRefreshName, &value);
  if (rc == MDB_NOTFOUND) return {};
  SecretVector text;
  if (rc != 0 || !sealer_.open("meta", kRefreshName, lmdb_span(value), text))
    return fail("store: the refresh epoch in " + options_.path +
                " is corrupt; restore the store from its backup");
  Reader r(text);
  const std::uint8_t format = r.u8();
  refresh_.epoch = r.u32();
  refresh_.at_s = r.u64();
  const std::uint8_t second = r.u8();
  const std::uint8_t prepared = r.u8();
  refresh_prepared_at_s_ = r.u64();
  if (!r.complete() || format != kRefreshFormat || second > 1 || prepared > 1)
    return fail("store: the refresh epoch in " + options_.path +
                " is of a format that this release does not read");
  second_pair_ = second == 1;
  refresh_prepared_ = prepared == 1;
  if (second_pair_) swap_pairs();
  return {};
}

void LmdbStore::swap_pairs() {
  for (const auto& [one, other] : {std::pair(kCommitted, kNext), std::pair(kMacs, kNextMacs)}) {
    const MDB_dbi kept = dbi_[one];
    dbi_[one] = dbi_[other].load();
    dbi_[other] = kept;
  }
}

int LmdbStore::put_refresh(LmdbTxn& txn) {
  return put(txn, kMeta, kRefreshName, sealer_.seal("meta", kRefreshName, {}, encode_refresh()));
}

int LmdbStore::empty_next(LmdbTxn& txn) {
  int rc = mdb_drop(txn.get(), dbi_[kNext], 0);
  if (rc == 0) rc = mdb_drop(txn.get(), dbi_[kNextMacs], 0);
  return rc;
}

RefreshState LmdbStore::state() {
  std::lock_guard lock(write_mutex_);
  return refresh_;
}

Result<void> LmdbStore::commit_refresh() { return commit_to(refresh_epoch() + 1); }

Result<void> LmdbStore::abandon_refresh() { return abandon_to(refresh_epoch() + 1); }

std::uint32_t LmdbStore::refresh_epoch() { return state().epoch; }

EntryId LmdbStore::entry() {
  std::lock_guard lock(write_mutex_);
  return entry_of(refresh_.epoch + 1);
}

EntryId LmdbStore::entry_of(std::uint32_t epoch) {
  EntryId id{};
  std::ranges::copy(octets(kEntryLabel), id.begin());
  for (std::size_t k = 0; k < 4; ++k)
    id[kEntryLabel.size() + k] = static_cast<std::uint8_t>(epoch >> (24 - 8 * k));
  return id;
}

// Ids of keys are random: none begins so but by a chance of 2^-96.
std::optional<std::uint32_t> LmdbStore::refresh_of(const EntryId& id) {
  if (!std::ranges::equal(octets(kEntryLabel), ByteSpan(id).first(kEntryLabel.size())))
    return std::nullopt;
  return Reader(ByteSpan(id).last(4)).u32();
}

Result<void> LmdbStore::begin() {
  std::lock_guard lock(write_mutex_);
  if (refresh_prepared_ || switch_due_)
    return fail("store: a refresh is half done; it is settled when the next session starts");
  return write("beginning a refresh", [&](LmdbTxn& txn) { return empty_next(txn); });
}

Result<void> LmdbStore::add(std::span<const RefreshedKey> keys) {
  std::vector<Bytes> values;
  std::size_t bytes = 0;
  for (const RefreshedKey& one : keys) {
    const SecretVector plaintext = encode_record(one.record, one.record.era);
    values.push_back(sealer_.seal(kTableNames[kCommitted], one.record.ref.id,
                                  record_header(one.record), plaintext));
    bytes += values.back().size() + 256 + one.macs.tag[0].size() + one.macs.tag[1].size();
  }
  std::lock_guard lock(write_mutex_);
  if (int full = check_room(bytes); full != 0) return failed("storing new shares", full);
  return write("storing new shares", [&](LmdbTxn& txn) {
    int rc = 0;
    for (std::size_t k = 0; rc == 0 && k < keys.size(); ++k) {
      const KeyId& id = keys[k].record.ref.id;
      rc = put(txn, kNext, id, values[k]);
      if (rc == 0)
        rc = put(txn, kNextMacs, id,
                 sealer_.seal(kTableNames[kMacs], id, {}, encode_mac_row(keys[k].macs)));
    }
    return rc;
  });
}

Result<void> LmdbStore::prepare_refresh(std::uint64_t at_s) {
  std::lock_guard lock(write_mutex_);
  {
    LmdbTxn txn(env_, MDB_RDONLY);
    MDB_stat now{}, next{};
    int rc = txn.begun();
    if (rc == 0) rc = mdb_stat(txn.get(), dbi_[kCommitted], &now);
    if (rc == 0) rc = mdb_stat(txn.get(), dbi_[kNext], &next);
    if (rc != 0) return failed("preparing a refresh", rc);
    if (now.ms_entries != next.ms_entries)
      return fail("store: keys were made or removed while shares were refreshed; refresh again");
  }
  refresh_prepared_ = true;
  refresh_prepared_at_s_ = at_s;
  auto kept = write("preparing a refresh", [&](LmdbTxn& txn) { return put_refresh(txn); });
  if (!kept.ok()) refresh_prepared_ = false;
  return kept;
}

// On disk. Who serves goes on with what it has until switch_over().
Result<void> LmdbStore::commit_to(std::uint32_t epoch) {
  std::lock_guard lock(write_mutex_);
  if (epoch <= refresh_.epoch) return {};
  if (!refresh_prepared_ || epoch != refresh_.epoch + 1)
    return fail("store: the refresh to epoch " + std::to_string(epoch) + " was never prepared");
  const RefreshState before = refresh_;
  refresh_ = {epoch, refresh_prepared_at_s_};
  refresh_prepared_ = false;
  second_pair_ = !second_pair_;
  auto kept = write("committing a refresh", [&](LmdbTxn& txn) {
    const int rc = mdb_drop(txn.get(), dbi_[kPrepared], 0);
    return rc == 0 ? put_refresh(txn) : rc;
  });
  if (kept.ok()) {
    switch_due_ = true;
    return {};
  }
  refresh_ = before;
  refresh_prepared_ = true;
  second_pair_ = !second_pair_;
  return kept;
}

Result<void> LmdbStore::abandon_to(std::uint32_t epoch) {
  std::lock_guard lock(write_mutex_);
  if (!refresh_prepared_ || epoch != refresh_.epoch + 1) return {};
  refresh_prepared_ = false;
  auto kept = write("dropping a refresh", [&](LmdbTxn& txn) {
    const int rc = empty_next(txn);
    return rc == 0 ? put_refresh(txn) : rc;
  });
  if (!kept.ok()) refresh_prepared_ = true;
  return kept;
}

void LmdbStore::switch_over() {
  std::lock_guard lock(write_mutex_);
  if (!std::exchange(switch_due_, false)) return;
  swap_pairs();
  cache_.forget_all();
  // The shares of before. A failure leaves them until the next refresh, or the next start.
  (void)write("dropping the shares of before", [&](LmdbTxn& txn) { return empty_next(txn); }).ok();
}

// What a crash left of an attempt, or of the shares of before.
Result<void> LmdbStore::clear_next_unless_prepared() {
  if (refresh_prepared_) return {};
  LmdbTxn txn(env_, MDB_RDONLY);
  MDB_stat next{};
  if (txn.begun() != 0 || mdb_stat(txn.get(), dbi_[kNext], &next) != 0) return {};
  if (next.ms_entries == 0) return {};
  return write("dropping the shares of before", [&](LmdbTxn& t) { return empty_next(t); });
}

}  // namespace tkdc
