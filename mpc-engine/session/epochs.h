// SPDX-License-Identifier: Apache-2.0
// The nonce epochs of one server, as they stand on its disk (docs/protocols/03-session.md).
//
//   reserved  the highest that it holds ready: the other two begin a session only with
//             an epoch that this server has reserved
//   used      the highest with which it has begun a session itself; it takes part in no
//             nonce of a higher one
//   era       how often all three began epochs anew; each era counts from 0. A key of an
//             older era may seal nothing: its nonces could repeat
//   spent     what of a day's allowance is used up, as of `spent_at_s` (session/epoch_ledger.h)
//
// Between two honest servers `used` of one never exceeds `reserved` of the other: that is
// what tells a server that pushes epochs ahead from one that failed. Nothing is secret.
#pragma once

#include <cstdint>

namespace tkdc {

inline constexpr std::uint32_t kMaxEpoch = (1u << 20) - 1;  // 20 bits of a nonce

struct Epochs {
  std::uint32_t era = 0;
  std::uint32_t reserved = 0;
  std::uint32_t used = 0;
  std::uint64_t spent = 0;       // in 1/86,400 of an epoch
  std::uint64_t spent_at_s = 0;  // Unix time; never falls, even if the clock does
  bool operator==(const Epochs&) const = default;
};

// Why `to` may not take the place of `from` on disk, or null.
inline const char* epochs_fault(const Epochs& from, const Epochs& to) {
  if (to.used > to.reserved || to.reserved > kMaxEpoch) return "they are no nonce epochs";
  if (to.era < from.era) return "their era may only grow";
  if (to.era == from.era && (to.reserved < from.reserved || to.used < from.used))
    return "nonce epochs may only grow";
  return nullptr;
}

}  // namespace tkdc
