// SPDX-License-Identifier: Apache-2.0
// Linear maps from octets to elements of GF(2^64), four octets at a time in the registers of one
// thread: a product of a word of bits, one in each octet, with an octet of the map puts it where
// the bit is. The map is public, the octets are secret; constant time.
#pragma once

#include "cuda/thread/gf64.h"

namespace tkdc::cuda {

// Octet o of the image of bit b at 8 b + o, each in a word, and read four at once.
struct alignas(16) Quad {
  Word word[4];
};
inline constexpr std::uint32_t kMapQuads = 16;

// Octet o of four elements.
using FourElements = Word[8];

// sum[k] += the images of the octets of in[k].
template <int kWords>
TKDC_HD void add_images(const Word (&in)[kWords], const Quad* map, FourElements (&sum)[kWords]) {
  TKDC_UNROLL
  for (int b = 0; b < 8; ++b) {
    const Quad half[2] = {map[2 * b], map[2 * b + 1]};
    TKDC_UNROLL
    for (int k = 0; k < kWords; ++k) {
      const Word bits = in[k] >> b & 0x01010101u;
      TKDC_UNROLL
      for (int o = 0; o < 8; ++o) sum[k][o] ^= bits * half[o / 4].word[o % 4];
    }
  }
}

TKDC_HD Element element_of(const FourElements& four, int which) {
  Word half[2] = {0, 0};
  TKDC_UNROLL
  for (int o = 0; o < 8; ++o) half[o / 4] |= (four[o] >> 8 * which & 0xffu) << 8 * (o % 4);
  return half[0] | Element{half[1]} << 32;
}

}  // namespace tkdc::cuda
