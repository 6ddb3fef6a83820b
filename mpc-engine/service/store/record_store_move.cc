// SPDX-License-Identifier: Apache-2.0
// New versions of records, until they take the place of the old ones. They stand among the named
// values, under names of their own, so that a change of the store's keys takes them along.
//
//   move/state      number of the last move that was committed 4, of the one that is prepared 4
//                   (0: none)
//   move/ID         a new record
//   move/refreshed  the end of a refresh: since when it was under way 8
#include <algorithm>

#include "base/hex.h"
#include "base/machine.h"
#include "service/store/kept_values.h"
#include "service/store/record_codec.h"
#include "service/store/record_store.h"

namespace tkdc {
namespace {

constexpr std::string_view kMoveLabel = "tkdc moving.";  // 12 octets; then the number
constexpr std::string_view kMoveState = kept::kMoveState, kMovePrefix = kept::kMove;
constexpr std::string_view kAmongValues = Tables::kNames[Tables::kValues];

std::string move_name(const KeyId& id) { return std::string(kMovePrefix) + to_hex(id); }

}  // namespace

// No key has such an id (prepare()).
std::optional<std::uint32_t> RecordStore::move_of(const EntryId& id) {
  if (!std::ranges::equal(octets(kMoveLabel), ByteSpan(id).first(kMoveLabel.size())))
    return std::nullopt;
  return Reader(ByteSpan(id).last(4)).u32();
}

EntryId RecordStore::move_entry(std::uint32_t number) {
  EntryId id{};
  std::ranges::copy(octets(kMoveLabel), id.begin());
  for (std::size_t k = 0; k < 4; ++k)
    id[kMoveLabel.size() + k] = static_cast<std::uint8_t>(number >> (24 - 8 * k));
  return id;
}

Result<RecordStore::MoveState> RecordStore::move_state() {
  auto value = get(kMoveState);
  if (!value) return value.error();
  MoveState out;
  if (!*value) return out;
  Reader in(**value);
  out.last = in.u32();
  out.prepared = in.u32();
  if (!in.complete()) return corrupt_value(octets(kMoveState));
  return out;
}

int RecordStore::put_move_state(Txn& txn, const MoveState& state) {
  Bytes value;
  Writer out(value);
  out.u32(state.last);
  out.u32(state.prepared);
  return put_values(txn, std::array{NamedValue{kMoveState, value}});
}

Result<std::uint32_t> RecordStore::last_move() {
  auto state = move_state();
  if (!state) return state.error();
  return state->last;
}

Result<void> RecordStore::prepare_move(std::uint32_t number, std::span<const KeyRecord> records) {
  if (records.empty() || records.size() > kMostMoved)
    return fail("store: " + std::to_string(records.size()) + " records cannot be moved at once");
  std::vector<std::string> names;
  std::vector<SecretVector> texts;
  std::vector<NamedValue> values;
  for (const KeyRecord& one : records) {
    names.push_back(move_name(one.ref.id));
    texts.push_back(encode_record(one));
    KeyRecord again;
    if (one.ref.installation != options_.installation || !decode_record(texts.back(), again))
      return fail("store: key " + to_hex(one.ref.id) +
                  " is another installation's, or has fields beyond the store's limits");
  }
  for (std::size_t k = 0; k < names.size(); ++k) values.push_back({names[k], texts[k]});
  return prepare_values(number, values);
}

Result<void> RecordStore::prepare_refreshed(std::uint32_t number, std::uint64_t since_s) {
  Bytes since;
  Writer(since).u64(since_s);
  return prepare_values(number, std::array{NamedValue{kept::kMoveRefreshed, since}});
}

Result<void> RecordStore::prepare_values(std::uint32_t number, std::span<const NamedValue> values) {
  std::lock_guard lock(write_mutex_);
  auto state = move_state();
  if (!state) return state.error();
  if (state->prepared != 0)
    return fail("store: a move of keys is half done; it is settled when the next session starts");
  if (number <= state->last)
    return fail("store: move " + std::to_string(number) + " of keys has been made already");
  if (auto room = room_for(values); !room.ok()) return room;
  return write("preparing a move of keys", [&](Txn& txn) {
    int rc = put_values(txn, values);
    return rc == 0 ? put_move_state(txn, {state->last, number}) : rc;
  });
}

std::optional<EntryId> RecordStore::prepared_move(const MoveState& state) {
  if (state.prepared == 0) return std::nullopt;
  return move_entry(state.prepared);
}

// What was removed meanwhile stays removed. One that is of this version is of this move.
int RecordStore::take_place(Txn& txn, const std::string& name, Result<void>& fault) {
  ByteSpan value;
  int rc = txn->find(kValues, octets(name), value);
  if (rc != 0) return rc;
  SecretVector text;
  KeyRecord record;
  if (!cipher_.decrypt(kAmongValues, octets(name), value, text) || !decode_record(text, record) ||
      move_name(record.ref.id) != name || !is_record(text, record.ref.id, record)) {
    fault = corrupt_value(octets(name));
    return 0;
  }
  const KeyId& id = record.ref.id;
  rc = txn->find(kCommitted, id, value);
  if (rc == Tables::kNotFound) return txn->erase(kValues, octets(name));
  if (rc != 0) return rc;
  KeyRecord old;
  if (!decode(kCommitted, id, value, old)) {
    fault = corrupt(kCommitted, id);
    return 0;
  }
  if (old.version + 1 == record.version)
    rc = txn->put(kCommitted, id,
                  row_ciphers()->serving().encrypt(Tables::kNames[kCommitted], id,
                                                   record_header(record), text));
  return rc == 0 ? txn->erase(kValues, octets(name)) : rc;
}

// The epoch goes with the transaction; who commits it takes it up.
int RecordStore::end_refresh(Txn& txn, Refresh& next, Result<void>& fault) {
  const ByteSpan entry = octets(kept::kMoveRefreshed);
  ByteSpan value;
  int rc = txn->find(kValues, entry, value);
  if (rc != 0) return rc;
  SecretVector since;
  if (!cipher_.decrypt(kAmongValues, entry, value, since) || since.size() != kept::kSinceBytes) {
    fault = corrupt_value(entry);
    return 0;
  }
  next.is = {refresh_.is.epoch + 1, Reader(since).u64()};
  rc = put_refresh(txn, next);
  for (const std::string_view name : {kept::kMoveRefreshed, kept::kRefreshing})
    if (rc == 0) rc = txn->erase(kValues, octets(name));
  Bytes ended;
  Writer(ended).u64(wall_s());
  return rc == 0 ? put_values(txn, std::array{NamedValue{kept::kRefreshEnded, ended}}) : rc;
}

Result<std::vector<std::string>> RecordStore::moving() {
  auto found = names(kMovePrefix);
  if (!found) return found;
  std::erase(*found, kMoveState);
  return found;
}

Result<void> RecordStore::commit_move(std::uint32_t number) {
  std::lock_guard lock(write_mutex_);
  auto state = move_state();
  if (!state) return state.error();
  if (number <= state->last) return {};
  if (state->prepared != number)
    return fail("store: move " + std::to_string(number) + " of keys was never prepared");
  auto found = moving();
  if (!found) return found.error();
  Result<void> fault;
  Txn txn(*tables_, true);
  int rc = txn.begun();
  Refresh refreshed = refresh_;
  for (const std::string& name : *found) {
    if (rc != 0 || !fault) break;
    rc = name == kept::kMoveRefreshed ? end_refresh(txn, refreshed, fault)
                                      : take_place(txn, name, fault);
  }
  if (!fault) return fault;
  if (rc == 0) rc = put_move_state(txn, {number, 0});
  if (rc == 0) rc = txn->commit();
  if (rc != 0) return failed("committing a move of keys", rc);
  if (refreshed.is != refresh_.is) {
    refresh_ = refreshed;
    serve_refreshed();
  }
  cache_.forget_all();
  return {};
}

Result<void> RecordStore::abandon_move(std::uint32_t number) {
  std::lock_guard lock(write_mutex_);
  auto state = move_state();
  if (!state) return state.error();
  if (state->prepared != number) return {};
  auto found = moving();
  if (!found) return found.error();
  return write("dropping a move of keys", [&](Txn& txn) {
    int rc = put_move_state(txn, {state->last, 0});
    for (const std::string& name : *found)
      if (rc == 0) rc = txn->erase(kValues, octets(name));
    return rc;
  });
}

}  // namespace tkdc
