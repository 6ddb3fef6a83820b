// SPDX-License-Identifier: Apache-2.0
#include "field/aes_round_keys.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "field/gf256.h"

namespace tkdc {
namespace {

// FIPS 197, section 5.1.1.
std::uint8_t substituted(std::uint8_t octet) {
  const unsigned inverse = gf256_inverse(octet);
  unsigned image = 0x63;
  for (int turn = 0; turn < 5; ++turn) image ^= (inverse << turn | inverse >> (8 - turn)) & 0xff;
  return static_cast<std::uint8_t>(image);
}

}  // namespace

void aes_round_keys(ByteSpan key, MutableByteSpan out) {
  assert(key.size() == 16 || key.size() == 32);
  assert(out.size() == aes_round_key_bytes(key.size()));
  std::ranges::copy(key, out.begin());
  std::uint8_t word[4], rcon = 1;
  for (std::size_t at = key.size(); at < out.size(); at += sizeof word) {
    std::memcpy(word, &out[at - sizeof word], sizeof word);
    if (at % key.size() == 0) {
      std::rotate(word, word + 1, word + 4);
      for (std::uint8_t& octet : word) octet = substituted(octet);
      word[0] ^= rcon;
      rcon = gf256_times_x(rcon);
    } else if (key.size() == 32 && at % 32 == 16) {
      for (std::uint8_t& octet : word) octet = substituted(octet);
    }
    for (std::size_t k = 0; k < sizeof word; ++k) out[at + k] = out[at + k - key.size()] ^ word[k];
  }
  sodium_memzero(word, sizeof word);
}

}  // namespace tkdc
