// SPDX-License-Identifier: Apache-2.0
// The table of MACs, and the keys to it.
#include <algorithm>

#include "service/store/record_store.h"

namespace tkdc {
namespace {

constexpr std::size_t kMostReserved = 256;  // keys of a page

}  // namespace

int RecordStore::put_macs(Txn& txn, const KeyId& id, const MacRow& row) {
  return txn->put(
      kMacs, id,
      row_ciphers()->serving().encrypt(Tables::kNames[kMacs], id, {}, encode_mac_row(row)));
}

// Error: the record is corrupt. A row that is so is no more than missing: it can be dealt anew.
Result<StoredKey> RecordStore::read_with_macs(Txn& txn, const KeyId& id, ByteSpan value,
                                              PageReader& reader) {
  StoredKey out;
  auto record = std::make_shared<KeyRecord>();
  if (!decode(kCommitted, id, value, *record, reader)) return corrupt(kCommitted, id);
  auto row = dropped_row(txn, id);
  if (!row) return row.error();
  if (*row) record->dropped_at_s = (*row)->at_s;
  out.record = std::move(record);
  ByteSpan sealed;
  const int rc = txn->find(kMacs, id, sealed);
  if (rc == Tables::kNotFound) return out;
  if (rc != 0) return failed("reading MACs", rc);
  if (!row_ciphers()->serving().decrypt(Tables::kNames[kMacs], id, sealed, reader.plaintext,
                                        StoreCipher::Under::kAny, &reader.values) ||
      !decode_mac_row(reader.plaintext, out.macs.emplace())) {
    out.macs.reset();
    out.unreadable = true;
  }
  return out;
}

Result<std::vector<StoredKey>> RecordStore::page(const std::optional<KeyId>& after,
                                                 std::size_t most) {
  return read_again([&] { return read_page(after, most); },
                    [](const auto& page) {
                      return page.ok() && std::ranges::none_of(*page, &StoredKey::unreadable);
                    });
}

Result<std::vector<StoredKey>> RecordStore::read_page(const std::optional<KeyId>& after,
                                                      std::size_t most) {
  std::vector<StoredKey> out;
  Result<void> sound;
  PageReader reader;
  out.reserve(std::min(most, kMostReserved));
  Txn txn(*tables_, false);
  const auto take = [&](ByteSpan name, ByteSpan value) {
    KeyId id{};
    std::copy_n(name.begin(), std::min(name.size(), id.size()), id.begin());
    auto key = name.size() == id.size() ? read_with_macs(txn, id, value, reader)
                                        : Result<StoredKey>(corrupt(kCommitted, id));
    if (key.ok())
      out.push_back(std::move(*key));
    else
      sound = key.error();
    return sound.ok() && out.size() < most;
  };
  int rc = txn.begun();
  if (rc == 0 && most > 0)
    rc = after ? txn->each_after(kCommitted, *after, take) : txn->each(kCommitted, take);
  if (!sound.ok()) return sound.error();
  if (rc != 0) return failed("reading keys with their MACs", rc);
  return out;
}

Result<void> RecordStore::put(std::span<const NamedMacs> rows) {
  std::size_t bytes = 0;
  for (const NamedMacs& one : rows) bytes += 256 + one.row.tag[0].size() + one.row.tag[1].size();
  std::lock_guard lock(write_mutex_);
  if (auto last = writes_last(); !last.ok()) return last;
  // Commits of keys must find room after this.
  if (int full = tables_->check_room(kPrepared, bytes); full != 0)
    return failed("storing MACs", full);
  return write("storing MACs", [&](Txn& txn) {
    int rc = 0;
    for (const NamedMacs& one : rows) {
      ByteSpan there;
      rc = txn->find(kCommitted, one.id, there);
      if (rc == 0) rc = put_macs(txn, one.id, one.row);
      if (rc == Tables::kNotFound) rc = 0;
      if (rc != 0) break;
    }
    return rc;
  });
}

std::size_t RecordStore::rows() {
  Txn txn(*tables_, false);
  std::size_t entries = 0;
  if (txn.begun() != 0 || txn->count(kMacs, entries) != 0) return 0;
  return entries;
}

Result<SecretVector> RecordStore::keys() {
  return read_again([&] { return read_mac_keys(); }, [](const auto& keys) { return keys.ok(); });
}

Result<SecretVector> RecordStore::read_mac_keys() {
  SecretVector out;
  Txn txn(*tables_, false);
  ByteSpan value;
  int rc = txn.begun();
  if (rc == 0) rc = txn->find(kMeta, meta::kMacKeys, value);
  if (rc == Tables::kNotFound) return out;
  if (rc != 0) return failed("reading the MAC keys", rc);
  if (!row_ciphers()->mac_keys().decrypt(Tables::kNames[kMeta], meta::kMacKeys, value, out))
    return fail("store: the MAC keys in " + options_.path +
                " are corrupt; restore the store from its backup");
  return out;
}

Result<void> RecordStore::set_keys(ByteSpan keys) {
  std::lock_guard lock(write_mutex_);
  return write("storing the MAC keys", [&](Txn& txn) {
    return txn->put(
        kMeta, meta::kMacKeys,
        row_ciphers()->serving().encrypt(Tables::kNames[kMeta], meta::kMacKeys, {}, keys));
  });
}

}  // namespace tkdc
