// SPDX-License-Identifier: Apache-2.0
// RFC 3961 section 5.1's n-fold to 16 octets, of constants that keys are derived by. Public. Called
// by cipher/ and by the bodies of circuits.
#pragma once

#include <numeric>

#include "base/secret.h"

namespace tkdc {

inline Bytes n_fold(ByteSpan in) {
  constexpr std::size_t kBlock = 16;
  const std::size_t in_bits = 8 * in.size(), copies_bytes = std::lcm(in.size(), kBlock);
  Bytes sum(kBlock, 0);
  // The copies, each rotated right by 13 bits more, added in one's complement.
  for (std::size_t chunk = 0; chunk < copies_bytes; chunk += kBlock) {
    unsigned carry = 0;
    for (std::size_t k = kBlock; k-- > 0;) {
      const std::size_t at = chunk + k, copy = at / in.size(), octet = at % in.size();
      unsigned value = 0;
      for (std::size_t bit = 0; bit < 8; ++bit) {
        std::size_t from = (8 * octet + bit + in_bits - 13 * copy % in_bits) % in_bits;
        value = value << 1 | (in[from / 8] >> (7 - from % 8) & 1u);
      }
      carry += sum[k] + value;
      sum[k] = static_cast<std::uint8_t>(carry);
      carry >>= 8;
    }
    for (std::size_t k = kBlock; carry != 0 && k-- > 0;) {
      carry += sum[k];
      sum[k] = static_cast<std::uint8_t>(carry);
      carry >>= 8;
    }
  }
  return sum;
}

}  // namespace tkdc
