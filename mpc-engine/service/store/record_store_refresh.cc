// SPDX-License-Identifier: Apache-2.0
// Two pairs of tables, records and MACs: one serves, the other is empty, grows, or is of before.
// The value "refresh" in meta says which serves, of which epoch, and what the other is.
#include <algorithm>

#include "service/store/record_codec.h"
#include "service/store/record_store.h"

namespace tkdc {
namespace {

constexpr std::string_view kEntryLabel = "tkdc refresh";  // 12 octets; then the epoch

EntryId entry_of(std::uint32_t epoch) {
  EntryId id{};
  std::ranges::copy(octets(kEntryLabel), id.begin());
  for (std::size_t k = 0; k < 4; ++k)
    id[kEntryLabel.size() + k] = static_cast<std::uint8_t>(epoch >> (24 - 8 * k));
  return id;
}

}  // namespace

// No key has such an id (prepare()).
std::optional<std::uint32_t> RecordStore::refresh_of(const EntryId& id) {
  if (!std::ranges::equal(octets(kEntryLabel), ByteSpan(id).first(kEntryLabel.size())))
    return std::nullopt;
  return Reader(ByteSpan(id).last(4)).u32();
}

// A store that was never refreshed has no such value.
Result<void> RecordStore::load_refresh(Txn& txn) {
  ByteSpan value;
  const int rc = txn->find(kMeta, meta::kRefresh, value);
  if (rc == Tables::kNotFound) return {};
  SecretVector text;
  if (rc != 0 || !cipher_.decrypt(Tables::kNames[kMeta], meta::kRefresh, value, text))
    return fail("store: the refresh epoch in " + options_.path +
                " is corrupt; restore the store from its backup");
  Refresh read;
  if (!decode_refresh(text, read))
    return fail("store: the refresh epoch in " + options_.path +
                " is of a format that this release does not read");
  refresh_ = read;
  serve_refreshed();
  return {};
}

// With the format, by which a release that knows no refresh refuses the store: it would serve
// shares of before.
int RecordStore::put_refresh(Txn& txn, const Refresh& refresh) {
  int rc = txn->put(kMeta, meta::kOwner, owner_record(refresh.is.epoch > 0, has_dropped_));
  if (rc == 0)
    rc = txn->put(
        kMeta, meta::kRefresh,
        cipher_.encrypt(Tables::kNames[kMeta], meta::kRefresh, {}, encode_refresh(refresh)));
  return rc;
}

int RecordStore::empty_next(Txn& txn) {
  int rc = txn->clear(kNext);
  if (rc == 0) rc = txn->clear(kNextMacs);
  return rc;
}

Result<void> RecordStore::change_refresh(const char* step, Refresh next,
                                         const std::function<int(Txn&)>& also) {
  auto kept = write(step, [&](Txn& txn) {
    const int rc = also ? also(txn) : 0;
    return rc == 0 ? put_refresh(txn, next) : rc;
  });
  if (kept.ok()) refresh_ = next;
  return kept;
}

// One that was committed shows when it serves.
RefreshState RecordStore::state() {
  std::lock_guard lock(serving_mutex_);
  return serving_;
}

// Under write_mutex_ once the store is open.
void RecordStore::serve_refreshed() {
  tables_->serve(refresh_.second_pair);
  use_epoch_keys();
  std::lock_guard lock(serving_mutex_);
  serving_ = refresh_.is;
}

// Under write_mutex_. What is written to the pair that serves still would go with it.
Result<void> RecordStore::writes_last() const {
  if (!switch_due_) return {};
  return fail(
      "store: shares were refreshed, and this session ends for them: try again in the next one; "
      "tkdc status says when it is there");
}

std::uint32_t RecordStore::refresh_epoch() { return state().epoch; }

EntryId RecordStore::entry() { return entry_of(refresh_epoch() + 1); }

std::optional<EntryId> RecordStore::prepared_refresh() {
  std::lock_guard lock(write_mutex_);
  if (refresh_.other != Other::kComplete) return std::nullopt;
  return entry_of(refresh_.is.epoch + 1);
}

bool RecordStore::has_refreshed(std::uint32_t epoch) {
  std::lock_guard lock(write_mutex_);
  return epoch <= refresh_.is.epoch;
}

Result<void> RecordStore::begin() {
  std::lock_guard lock(write_mutex_);
  if (refresh_.other == Other::kComplete || switch_due_)
    return fail("store: a refresh is half done; it is settled when the next session starts");
  auto begun =
      begin_next("beginning a refresh", refresh_, [&](Txn& txn) { return empty_next(txn); });
  // What grows from here on is not to be dropped.
  if (begun.ok()) tidy_due_ = false;
  return begun;
}

Result<void> RecordStore::add(std::span<const RefreshedKey> keys) {
  std::vector<Bytes> values;
  std::size_t bytes = 0;
  const auto rows = row_ciphers();
  const StoreCipher& cipher = rows->other();
  for (const RefreshedKey& one : keys) {
    const SecretVector plaintext = encode_record(one.record);
    values.push_back(cipher.encrypt(Tables::kNames[kNext], one.record.ref.id,
                                    record_header(one.record), plaintext));
    bytes += values.back().size() + 256 + one.macs.tag[0].size() + one.macs.tag[1].size();
  }
  std::lock_guard lock(write_mutex_);
  if (auto last = writes_last(); !last.ok()) return last;
  if (int full = tables_->check_room(kPrepared, bytes); full != 0)
    return failed("storing new shares", full);
  bool dropped = has_dropped_;
  auto stored = write("storing new shares", [&](Txn& txn) {
    int rc = 0;
    for (std::size_t k = 0; rc == 0 && k < keys.size(); ++k) {
      const KeyId& id = keys[k].record.ref.id;
      rc = txn->put(kNext, id, values[k]);
      if (rc == 0)
        rc = txn->put(
            kNextMacs, id,
            cipher.encrypt(Tables::kNames[kNextMacs], id, {}, encode_mac_row(keys[k].macs)));
      if (const std::uint64_t at_s = keys[k].record.dropped_at_s; rc == 0 && at_s != 0)
        rc = put_dropped(txn, id, {DroppedState::kDropped, at_s});
    }
    return rc == 0 ? note_dropped(txn, dropped) : rc;
  });
  if (stored.ok()) has_dropped_ = dropped;
  return stored;
}

Result<void> RecordStore::prepare_refresh(std::uint64_t at_s) {
  std::lock_guard lock(write_mutex_);
  std::size_t now = 0;
  {
    Txn txn(*tables_, false);
    const int rc = txn.begun() == 0 ? txn->count(kCommitted, now) : txn.begun();
    if (rc != 0) return failed("preparing a refresh", rc);
  }
  return prepare_next("preparing a refresh", at_s, now);
}

// Under write_mutex_.
Result<void> RecordStore::prepare_next(const char* step, std::uint64_t at_s, std::uint64_t keys) {
  {
    Txn txn(*tables_, false);
    std::size_t made = 0;
    const int rc = txn.begun() == 0 ? txn->count(kNext, made) : txn.begun();
    if (rc != 0) return failed(step, rc);
    if (made != keys)
      return fail("store: keys were made or removed while shares were refreshed; refresh again");
  }
  Refresh next = refresh_;
  next.other = Other::kComplete;
  next.other_at_s = at_s;
  return change_refresh(step, next);
}

// It would take room that keys need.
void RecordStore::give_up() {
  std::lock_guard lock(write_mutex_);
  if (refresh_.other == Other::kNothing) tidy_due_ = true;
}

// On disk. Who serves goes on with what it has until switch_over().
Result<void> RecordStore::commit_to(std::uint32_t epoch) {
  std::lock_guard lock(write_mutex_);
  if (epoch <= refresh_.is.epoch) return {};
  if (refresh_.other != Other::kComplete || epoch != refresh_.is.epoch + 1)
    return fail("store: the refresh to epoch " + std::to_string(epoch) + " was never prepared");
  const Refresh next{
      {epoch, refresh_.other_at_s}, !refresh_.second_pair, Other::kBefore, refresh_.is.at_s,
      refresh_.other_key,           refresh_.key};
  auto kept =
      change_refresh("committing a refresh", next, [&](Txn& txn) { return txn->clear(kPrepared); });
  if (!kept.ok()) return kept;
  switch_due_ = true;
  tidy_due_ = false;  // until a session has begun with these
  return {};
}

Result<void> RecordStore::abandon_to(std::uint32_t epoch) {
  std::lock_guard lock(write_mutex_);
  if (refresh_.other != Other::kComplete || epoch != refresh_.is.epoch + 1) return {};
  Refresh next = refresh_;
  next.other = Other::kNothing;
  next.other_key = {};
  auto dropped =
      change_refresh("dropping a refresh", next, [&](Txn& txn) { return empty_next(txn); });
  if (dropped.ok()) (void)drop_epoch_keys();  // or tidy() does it
  return dropped;
}

Result<void> RecordStore::commit_refresh() { return commit_to(refresh_epoch() + 1); }

Result<void> RecordStore::abandon_refresh() { return abandon_to(refresh_epoch() + 1); }

void RecordStore::switch_over() {
  std::lock_guard lock(write_mutex_);
  if (!std::exchange(switch_due_, false)) return;
  serve_refreshed();
  cache_.forget_all();
}

// Who went back from here on would lose the keys that the session makes.
Result<void> RecordStore::begun_with() {
  std::lock_guard lock(write_mutex_);
  if (switch_due_) return {};
  if (refresh_.other == Other::kBefore) {
    Refresh next = refresh_;
    next.other = Other::kNothing;
    if (auto noted = change_refresh("noting that a session has begun", next); !noted.ok())
      return noted;
  }
  tidy_due_ = true;
  return {};
}

// Shares of before, or what a crash left of an attempt.
Result<void> RecordStore::tidy() {
  std::lock_guard lock(write_mutex_);
  if (!tidy_due_) return {};
  if (refresh_.other != Other::kComplete) {
    std::size_t left = 0;
    {
      Txn txn(*tables_, false);
      if (int rc = txn.begun() == 0 ? txn->count(kNext, left) : txn.begun(); rc != 0)
        return failed("dropping shares of before", rc);
    }
    Refresh next = refresh_;
    next.other = Other::kNothing;
    next.other_key = {};
    if (left > 0 || refresh_.other != Other::kNothing || refresh_.other_key != EpochKeyId{} ||
        keys_.bare_rows) {
      auto dropped = change_refresh("dropping shares of before", next, [&](Txn& txn) {
        const int rc = empty_next(txn);
        return rc == 0 ? keep_mac_keys(txn, row_ciphers()->serving()) : rc;
      });
      if (!dropped.ok()) return dropped;
    }
    use_epoch_keys();
    if (auto gone = drop_epoch_keys(); !gone.ok()) return gone;
  }
  tidy_due_ = false;
  return {};
}

Result<void> RecordStore::undo_refresh() {
  std::lock_guard lock(write_mutex_);
  if (refresh_.other != Other::kBefore || switch_due_)
    return fail("store: " + options_.path +
                " has no shares of before its last refresh: a session has begun since");
  const Refresh next{{refresh_.is.epoch - 1, refresh_.other_at_s},
                     !refresh_.second_pair,
                     Other::kNothing,
                     0,
                     refresh_.other_key,
                     {}};
  auto undone = change_refresh("undoing a refresh", next, [&](Txn& txn) {
    const int rc = empty_after_undo(txn);
    return rc == 0 ? keep_mac_keys(txn, row_ciphers()->other()) : rc;
  });
  if (!undone.ok()) return undone;
  serve_refreshed();
  cache_.forget_all();
  (void)drop_epoch_keys();  // or tidy() does it
  return {};
}

// What serves still: it is the other pair from here on.
int RecordStore::empty_after_undo(Txn& txn) {
  int rc = txn->clear(kCommitted);
  if (rc == 0) rc = txn->clear(kMacs);
  return rc;
}

}  // namespace tkdc
