// SPDX-License-Identifier: Apache-2.0
// What stands in a host's store, read as its server would: which of the two pairs of tables serves,
// what becomes of a dropped key, a record's components. The simulator knows every store's key.
#pragma once

#include <optional>

#include "service/store/mac_table.h"
#include "service/store/meta_values.h"
#include "sim/disk.h"

namespace tkdc::sim {

SecretBuffer store_key(int party);

// Of the store in these tables; of one that was never refreshed: epoch 0.
StoredRefresh refresh_in(int party, const TableSet& tables);
// The rows that serve as `table`.
const Table& rows_in(int party, const TableSet& tables, Tables::Table table);
inline StoredRefresh refresh_of(const Host& host) {
  return refresh_in(host.number, disk_of(host).tables);
}
inline const Table& rows_of(const Host& host, Tables::Table table) {
  return rows_in(host.number, disk_of(host).tables, table);
}

// None: there is no such key, or it cannot be read.
std::optional<KeyRecord> record_in(int party, const TableSet& tables, const Bytes& id);
inline std::optional<KeyRecord> record_of(const Host& host, const Bytes& id) {
  return record_in(host.number, disk_of(host).tables, id);
}
// As its server would write it.
Bytes row_of(const Host& host, const KeyRecord& record);
// Whether it has noted that a peer had this one.
bool knows_certificate(const Host& host, ByteSpan certificate);
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
bool same_keys(int party, const TableSet& tables, int other, const TableSet& others);

}  // namespace tkdc::sim
