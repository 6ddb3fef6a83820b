// SPDX-License-Identifier: Apache-2.0
// The table of named values.
#include "service/store/record_store.h"

namespace tkdc {
namespace {

constexpr std::string_view kWhere = Tables::kNames[Tables::kValues];

constexpr std::size_t kSmallBytes = 1024;

bool is_name(std::string_view name) { return !name.empty() && name.size() <= kMaxValueNameBytes; }

std::string text_of(ByteSpan name) { return {name.begin(), name.end()}; }

}  // namespace

Result<std::optional<SecretVector>> RecordStore::get(std::string_view name) {
  if (!is_name(name)) return fail("store: a value's name has 1 to 64 octets");
  Txn txn(*tables_, false);
  ByteSpan value;
  int rc = txn.begun();
  if (rc == 0) rc = txn->find(kValues, octets(name), value);
  if (rc == Tables::kNotFound) return std::optional<SecretVector>();
  if (rc != 0) return failed("reading a value", rc);
  std::optional<SecretVector> out(std::in_place);
  if (!cipher_.decrypt(kWhere, octets(name), value, *out)) return corrupt_value(octets(name));
  return out;
}

Error RecordStore::corrupt_value(ByteSpan name) const {
  return fail("store: the value \"" + text_of(name) + "\" in " + options_.path +
              " is corrupt, or was taken from another installation, party or key; check the disk "
              "and the journal of this server");
}

// What grows must leave the commits of keys their room. A small value in the place of another takes
// no more than they do.
Result<void> RecordStore::room_for(std::span<const NamedValue> values) {
  std::size_t grows = 0;
  {
    Txn txn(*tables_, false);
    if (txn.begun() != 0) return failed("storing a value", txn.begun());
    for (const NamedValue& one : values) {
      ByteSpan there;
      const int rc = txn->find(kValues, octets(one.name), there);
      if (rc != 0 && rc != Tables::kNotFound) return failed("storing a value", rc);
      const std::size_t wanted = StoreCipher::sealed_bytes(0, one.value.size());
      if (there.size() < wanted || wanted > kSmallBytes) grows += wanted;
    }
  }
  if (grows == 0) return {};
  if (int full = tables_->check_room(kPrepared, grows); full != 0)
    return failed("storing a value", full);
  return {};
}

Result<void> RecordStore::room_for(std::size_t bytes) {
  std::lock_guard lock(write_mutex_);
  if (int full = tables_->check_room(kPrepared, bytes); full != 0)
    return failed("looking for room", full);
  return {};
}

int RecordStore::put_values(Txn& txn, std::span<const NamedValue> values) {
  int rc = 0;
  for (const NamedValue& one : values)
    if (rc == 0)
      rc = txn->put(kValues, octets(one.name),
                    cipher_.encrypt(kWhere, octets(one.name), {}, one.value));
  return rc;
}

Result<void> RecordStore::put(std::span<const NamedValue> values) {
  for (const NamedValue& one : values)
    if (!is_name(one.name) || one.value.size() > kMaxValueBytes)
      return fail("store: a value's name has 1 to 64 octets, and a value 1 MiB at most");
  std::lock_guard lock(write_mutex_);
  if (auto room = room_for(values); !room.ok()) return room;
  return write("storing a value", [&](Txn& txn) { return put_values(txn, values); });
}

Result<void> RecordStore::erase(std::span<const std::string> names) {
  for (const std::string& name : names)
    if (!is_name(name)) return fail("store: a value's name has 1 to 64 octets");
  std::lock_guard lock(write_mutex_);
  return write("removing a value", [&](Txn& txn) {
    int rc = 0;
    for (const std::string& name : names)
      if (rc == 0) rc = txn->erase(kValues, octets(name));
    return rc;
  });
}

Result<std::vector<std::string>> RecordStore::names(std::string_view prefix) {
  std::vector<std::string> out;
  Txn txn(*tables_, false);
  int rc = txn.begun();
  if (rc == 0)
    rc = txn->each(kValues, [&](ByteSpan name, ByteSpan) {
      std::string text = text_of(name);
      const bool behind = !text.starts_with(prefix) && text > prefix;
      if (text.starts_with(prefix)) out.push_back(std::move(text));
      return !behind;
    });
  if (rc != 0) return failed("listing values", rc);
  return out;
}

}  // namespace tkdc
