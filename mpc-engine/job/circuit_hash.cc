// SPDX-License-Identifier: Apache-2.0
#include "job/engine.h"

namespace tkdc {

std::uint64_t circuit_hash() { return TKDC_CIRCUIT_HASH; }

std::uint64_t circuit_hash(std::size_t masked_blocks) {
  // Any odd factor keeps different numbers apart; 0 leaves the hash as it is.
  constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15u;
  return circuit_hash() ^ kSpread * masked_blocks;
}

}  // namespace tkdc
