// SPDX-License-Identifier: Apache-2.0
// The GCM nonce of an own-realm ticket: derived, never chosen.
//
// 96 bits = mode 2 || epoch 20 || sealed_at 24 || lane 6 || number 44.
//   mode       0: three parties
//   epoch      1 + the highest of the three persisted values, per session
//   sealed_at  64-second units since 2024-01-01 UTC, from the manifest; each
//              server checks it against its own clock and that it never falls
//   number     counts the lane's seal jobs from 0 in this session
// A seal that is not delivered has consumed its nonce.
#pragma once

#include <chrono>

#include "base/machine.h"
#include "cipher/gcm.h"

namespace tkdc {

inline constexpr std::uint64_t kSealedAtOriginS = 1'704'067'200;
inline constexpr std::uint64_t kSealedAtUnitS = 64;
inline constexpr std::uint32_t kClockSkewUnits = 2;
// The oldest ticket that is opened: above any renewable life in use.
inline constexpr std::uint32_t kMaxTicketAgeUnits = 60 * 24 * 3600 / kSealedAtUnitS;

struct NonceCoordinates {
  std::uint8_t mode = 0;
  std::uint32_t epoch = 0;
  std::uint32_t sealed_at = 0;
  std::uint32_t lane = 0;
  std::uint64_t number = 0;
  bool operator==(const NonceCoordinates&) const = default;
};

inline std::uint32_t sealed_at_of(std::int64_t unix_s) {
  const auto origin = static_cast<std::int64_t>(kSealedAtOriginS);
  if (unix_s < origin) return 0;
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(unix_s - origin) / kSealedAtUnitS);
}

// 0 while the clock stands before the origin: no server seals or opens a ticket then.
inline std::uint32_t sealed_at_now() {
  const auto now = WallClock::now().time_since_epoch();
  const auto s = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  return sealed_at_of(s);
}

inline GcmNonce encode_nonce(const NonceCoordinates& c) {
  std::uint64_t high = std::uint64_t{c.mode} << 62 | std::uint64_t{c.epoch} << 42 |
                       std::uint64_t{c.sealed_at} << 18 | std::uint64_t{c.lane} << 12 |
                       c.number >> 32;
  GcmNonce nonce;
  for (std::size_t k = 0; k < 8; ++k) nonce[k] = static_cast<std::uint8_t>(high >> (56 - 8 * k));
  for (std::size_t k = 0; k < 4; ++k)
    nonce[8 + k] = static_cast<std::uint8_t>(c.number >> (24 - 8 * k));
  return nonce;
}

inline NonceCoordinates decode_nonce(const GcmNonce& nonce) {
  std::uint64_t high = 0, low = 0;
  for (int k = 0; k < 8; ++k) high = high << 8 | nonce[static_cast<std::size_t>(k)];
  for (int k = 8; k < 12; ++k) low = low << 8 | nonce[static_cast<std::size_t>(k)];
  NonceCoordinates c;
  c.mode = static_cast<std::uint8_t>(high >> 62);
  c.epoch = high >> 42 & 0xfffff;
  c.sealed_at = high >> 18 & 0xffffff;
  c.lane = high >> 12 & 0x3f;
  c.number = (high & 0xfff) << 32 | low;
  return c;
}

}  // namespace tkdc
