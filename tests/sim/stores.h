// SPDX-License-Identifier: Apache-2.0
// What stands in a host's store, read as its server would: which of the two pairs of tables serves,
// what becomes of a dropped key, a record's components. The simulator knows every store's key.
#pragma once

#include <optional>

#include "service/store/mac_table.h"
#include "service/store/row_ciphers.h"
#include "sim/disk.h"

namespace tkdc::sim {

// In its file store.key, before which there have been so many others.
SecretBuffer wrapping_key(int party, int number);
Keyring keyring_of(int party);

// A server's store, or a copy of it.
struct StoreView {
  int party;
  int wrapping;
  const TableSet& tables;
  const std::string& keys;
};
inline StoreView view_of(const Host& host) {
  const HostDisk& disk = disk_of(host);
  return {host.number, disk.wrapping, disk.tables, disk.keys()};
}
// With the store.key that it had then.
inline StoreView view_of(const Host& host, const StoreCopy& copy) {
  return {host.number, copy.wrapping, copy.tables, copy.keys};
}

// None: `keys` is not there, or store.key does not open it.
const StoreKeys* keys_in(const StoreView& store);
// Of one that was never refreshed: epoch 0.
StoredRefresh refresh_in(const StoreView& store);
// The rows that serve as `table`.
const Table& rows_in(const StoreView& store, Tables::Table table);
inline StoredRefresh refresh_of(const Host& host) { return refresh_in(view_of(host)); }
inline const Table& rows_of(const Host& host, Tables::Table table) {
  return rows_in(view_of(host), table);
}

// None: there is no such key, or it cannot be read.
std::optional<KeyRecord> record_in(const StoreView& store, const Bytes& id);
inline std::optional<KeyRecord> record_of(const Host& host, const Bytes& id) {
  return record_in(view_of(host), id);
}
// As its server would write it.
Bytes row_of(const Host& host, const KeyRecord& record);
// Whether it has noted that a peer had this one.
bool knows_certificate(const Host& host, ByteSpan certificate);
// None: it has not begun a session yet, or cannot be read.
std::optional<Epochs> epochs_of(const Host& host);
// A value beside its keys (service/store/value_table.h).
std::optional<SecretVector> kept_value(const Host& host, std::string_view name);
std::optional<MacRow> macs_of(const Host& host, const Bytes& id);

struct DroppedIs {
  DroppedState state = DroppedState::kDropped;
  std::uint64_t at_s = 0;
  bool operator==(const DroppedIs&) const = default;
};
DroppedIs dropped_in(ByteSpan row);

// Whether two servers' stores have the same inventory.
bool same_keys(const StoreView& one, const StoreView& other);
// Whether `keys` has what data.mdb is under, and all that it names.
bool fit_each_other(const StoreView& store);

}  // namespace tkdc::sim
