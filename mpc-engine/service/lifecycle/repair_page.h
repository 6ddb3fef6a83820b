// SPDX-License-Identifier: Apache-2.0
// What a survivor sends of records to the server that is repaired, and how that one reads and
// checks it (docs/protocols/25-repair.md).
//
// Of each record: what is public to the servers, the seal mark, one component, and the tags with
// which the sender proves that component to the server that lacks it. Everything in it comes from
// one server that may lie: lengths are checked before room is made, and what is public counts only
// where both survivors say it alike. Secret: components, tags, MAC keys.
#pragma once

#include <optional>
#include <vector>

#include "service/lifecycle/share_macs.h"

namespace tkdc {

inline constexpr std::size_t kMaxRepairPageBytes = std::size_t{64} << 20;

// One record, as one survivor sent it.
struct RepairHalf {
  Bytes said;        // what is public, octet for octet
  KeyRecord record;  // of it, without fields
  std::vector<std::pair<std::string, std::size_t>> fields;
  MacKeyId key{};
  Dealing dealing;
  std::uint64_t seal_mark = 0;  // the sender's own
  SecretVector component, tag;  // whole blocks
};

// What of a record both survivors say alike.
Bytes repair_said(const KeyRecord& record, const MacRow& row);
// Component and tags of that place, behind what is public.
void put_repair_half(SecretVector& page, const StoredKey& key, ByteSpan said, std::size_t place,
                     std::uint64_t seal_mark);
// So many, and nothing else. Nothing: malformed.
std::optional<std::vector<RepairHalf>> get_repair_halves(ByteSpan page, std::size_t count,
                                                         const InstallationId& installation);

// The component that `prover` sent is the one that the lost server dealt these tags for: by the key
// that the server which lacks it shared with the lost one. `keys` are of the party that is
// repaired.
bool is_proved(MacKeys& keys, int prover, const RepairHalf& half);
// From the previous server and from the next one. Nothing: they do not say the same.
std::optional<KeyRecord> join_halves(const RepairHalf& prev, const RepairHalf& next);

}  // namespace tkdc
