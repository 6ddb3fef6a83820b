// SPDX-License-Identifier: Apache-2.0
// What a repair needs of a store (docs/protocols/25-repair.md), beside what a refresh does: at the
// two that have everything, what they list; at the one that has nothing, that it becomes like them.
//
//   begin_repair     the store has no keys: it takes the others' refresh epoch, and nothing of an
//                    earlier attempt is left
//   add_tombstones   those of the others; records grow by RefreshTable::add()
//   prepare_repair   as RefreshTable::prepare_refresh(), which from here on settles it
//
// And the peers' certificates: which ones they have proved to have, and which are refused for good.
// Any thread. Nothing here is secret.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "service/store/record.h"

namespace tkdc {

// Of a key that was destroyed. The header is a record's: kvno, enctype, version.
struct Tombstone {
  static constexpr std::size_t kHeaderBytes = 12;
  KeyId id{};
  std::array<std::uint8_t, kHeaderBytes> header{};
  bool operator==(const Tombstone&) const = default;
};

struct PeerCertificate {
  int party = 0;
  bool refused = false;  // of a server that was given up
  std::array<std::uint8_t, 32> sha256{};
  bool operator==(const PeerCertificate&) const = default;
};
inline constexpr std::size_t kMostPeerCertificates = 1024;

class RepairTable {
 public:
  virtual ~RepairTable() = default;

  // It has no keys.
  virtual bool blank() = 0;
  // Shares of before a refresh, which no session has begun without: a repair would drop them.
  virtual bool keeps_former() = 0;
  virtual Result<void> begin_repair(std::uint32_t refresh_epoch) = 0;
  virtual std::size_t tombstone_count() = 0;
  // Behind `after` in the order of their ids; so many at most.
  virtual Result<std::vector<Tombstone>> tombstones(const std::optional<KeyId>& after,
                                                    std::size_t most) = 0;
  virtual Result<void> add_tombstones(std::span<const Tombstone> tombstones) = 0;
  // Error: there are not so many new records.
  virtual Result<void> prepare_repair(std::uint64_t at_s, std::uint64_t keys) = 0;
  // As it will be when the new records serve. At each of the three.
  virtual Result<std::array<std::uint8_t, 32>> next_inventory() = 0;

  // Empty at first.
  virtual Result<std::vector<PeerCertificate>> peers() = 0;
  // At most kMostPeerCertificates.
  virtual Result<void> set_peers(std::span<const PeerCertificate> peers) = 0;
};

}  // namespace tkdc
