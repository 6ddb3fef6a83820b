// SPDX-License-Identifier: Apache-2.0
// Bits as an octet each, 0 or 1, and on the wire eight of them in an octet, the first lowest.
#pragma once

#include <algorithm>
#include <array>

#include "base/secret.h"

namespace tkdc::pair {

using Bits = std::vector<std::uint8_t, WipingAllocator<std::uint8_t>>;
using Digest = std::array<std::uint8_t, 32>;

// For what the other server may have.
inline Bytes packed(std::span<const std::uint8_t> bits) {
  Bytes out((bits.size() + 7) / 8);
  for (std::size_t k = 0; k < bits.size(); ++k)
    out[k / 8] |= static_cast<std::uint8_t>(bits[k] << (k % 8));
  return out;
}

inline Bits unpacked(ByteSpan octets, std::size_t count) {
  Bits out(count);
  for (std::size_t k = 0; k < std::min(count, 8 * octets.size()); ++k)
    out[k] = octets[k / 8] >> (k % 8) & 1;
  return out;
}

}  // namespace tkdc::pair
