// SPDX-License-Identifier: Apache-2.0
// Keys of π are public and rare.
#include <cassert>
#include <cstring>

#include "field/aes_round_keys.h"
#include "garble/kernel.h"

namespace tkdc::garble {
namespace {

void expand(const Label& key, std::size_t instance, RoundKeys& out) {
  std::uint8_t octets[aes_round_key_bytes(kLabelBytes)];
  aes_round_keys({reinterpret_cast<const std::uint8_t*>(&key), kLabelBytes}, octets);
  for (std::size_t round = 0; round <= RoundKeys::kRounds; ++round)
    std::memcpy(&out.of[round][instance], octets + kLabelBytes * round, kLabelBytes);
}

}  // namespace

void expand_keys(std::span<const Label> keys, RoundKeys& out) {
  assert(keys.size() == 1 || keys.size() == kSideBySide);
  for (std::size_t s = 0; s < kSideBySide; ++s) expand(keys[s % keys.size()], s, out);
}

}  // namespace tkdc::garble
