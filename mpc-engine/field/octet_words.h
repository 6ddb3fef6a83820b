// SPDX-License-Identifier: Apache-2.0
// GF(2^8) as in gf256.h, on eight octets in a 64-bit word: for the kernels that no CPU lacks the
// instructions of. Constant time.
//
// Of internal linkage: each user is compiled with options of its own, and the linker may not
// choose.
#pragma once

#include <cstdint>
#include <cstring>

namespace tkdc::octet_words {

using Word = std::uint64_t;
static constexpr Word kLow = 0x0101010101010101u;

static inline Word load(const std::uint8_t* p) {
  Word w;
  std::memcpy(&w, p, sizeof w);
  return w;
}
static inline void store(std::uint8_t* p, Word w) { std::memcpy(p, &w, sizeof w); }

static inline Word times_x(Word a) { return ((a & ~(kLow << 7)) << 1) ^ ((a >> 7 & kLow) * 0x1b); }

static inline Word multiply(Word a, Word b) {
  Word product = 0;
  for (int k = 0; k < 8; ++k, a = times_x(a)) product ^= a & ((b >> k & kLow) * 0xff);
  return product;
}
static inline Word multiply(Word a, std::uint8_t factor) {
  Word product = 0;
  for (int k = 0; k < 8; ++k, a = times_x(a)) product ^= a & (Word{0} - (factor >> k & 1u));
  return product;
}

// A linear map on each octet, given by the images of the unit vectors.
static inline Word apply(const std::uint8_t (&columns)[8], Word a) {
  Word image = 0;
  for (int k = 0; k < 8; ++k) image ^= (a >> k & kLow) * columns[k];
  return image;
}

}  // namespace tkdc::octet_words
