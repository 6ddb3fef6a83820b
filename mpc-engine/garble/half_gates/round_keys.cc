// SPDX-License-Identifier: Apache-2.0
// AES-128's key expansion (FIPS 197, section 5.2). Keys of π are public and rare.
#include <algorithm>
#include <cassert>
#include <cstring>

#include "field/gf256.h"
#include "garble/kernel.h"

namespace tkdc::garble {
namespace {

std::uint8_t sbox(std::uint8_t a) {
  const std::uint8_t v = gf256_inverse(a);
  std::uint8_t out = 0x63;
  for (int turn : {0, 1, 2, 3, 4}) out ^= static_cast<std::uint8_t>(v << turn | v >> (8 - turn));
  return out;
}

void expand(const Label& key, std::size_t instance, RoundKeys& out) {
  std::uint8_t octets[16 * (RoundKeys::kRounds + 1)], rcon = 1;
  std::memcpy(octets, &key, 16);
  for (std::size_t at = 16; at < sizeof octets; at += 4) {
    std::uint8_t word[4];
    std::memcpy(word, octets + at - 4, 4);
    if (at % 16 == 0) {
      std::rotate(word, word + 1, word + 4);
      for (std::uint8_t& octet : word) octet = sbox(octet);
      word[0] ^= rcon;
      rcon = gf256_times_x(rcon);
    }
    for (std::size_t k = 0; k < 4; ++k) octets[at + k] = octets[at + k - 16] ^ word[k];
  }
  for (std::size_t round = 0; round <= RoundKeys::kRounds; ++round)
    std::memcpy(&out.of[round][instance], octets + 16 * round, 16);
}

}  // namespace

void expand_keys(std::span<const Label> keys, RoundKeys& out) {
  assert(keys.size() == 1 || keys.size() == kSideBySide);
  for (std::size_t s = 0; s < kSideBySide; ++s) expand(keys[s % keys.size()], s, out);
}

}  // namespace tkdc::garble
