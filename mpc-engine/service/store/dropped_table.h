// SPDX-License-Identifier: Apache-2.0
// Keys that were removed and may still come back (docs/protocols/28-dropped-keys.md). A dropped
// record stays among the committed ones, with its MACs and its count of seals: what audits,
// refreshes, repairs or backs up records takes it like any other. Only Store::get() and the lists
// of keys pass it over, so that no operation uses it.
//
//   condemn_to_drop   as Store::condemn(); destroy() then drops instead of burying
//   prepare_change    a dropped key is to be purged, or given back; commit() does it, abandon()
//                     leaves it dropped. What was purged has a tombstone, and never comes back.
//
// Any thread. Nothing here is secret.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "service/store/record.h"

namespace tkdc {

struct DroppedKey {
  KeyId id{};
  std::uint64_t at_s = 0;  // Unix time, the same at all three servers
  bool operator==(const DroppedKey&) const = default;
};

enum class DroppedChange : std::uint8_t { kPurge = 1, kGiveBack = 2 };

class DroppedTable {
 public:
  virtual ~DroppedTable() = default;

  virtual Result<void> condemn_to_drop(const KeyId& id, std::uint64_t at_s) = 0;
  // Error: it is not dropped, or its change is prepared already.
  virtual Result<void> prepare_change(const KeyId& id, DroppedChange change) = 0;

  // Behind `after` in the order of their ids; so many at most.
  virtual Result<std::vector<DroppedKey>> dropped_behind(const KeyId& after, std::size_t most) = 0;
  virtual std::size_t dropped_count() = 0;
  // When the first of them was dropped; nothing: there is none. Reads them all.
  virtual Result<std::optional<std::uint64_t>> dropped_first_at() = 0;
  // Null when there is no dropped key of that id. Its `dropped_at_s` says since when.
  virtual Result<std::shared_ptr<const KeyRecord>> dropped_record(const KeyId& id) = 0;
};

}  // namespace tkdc
