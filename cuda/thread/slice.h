// SPDX-License-Identifier: Apache-2.0
// Octets to bits and back, in the registers of one thread.
//
// slice() makes of 8 words (32 octets) the 8 planes of their bits: bit 8 b + i of plane k is
// bit k of octet b of word i. It is its own inverse. Branch-free; what it moves may be secret.
#pragma once

#include "cuda/thread/host_device.h"

namespace tkdc::cuda {

// Exchanges the bits `mask` << n of a with the bits `mask` of b.
TKDC_HD void swap_move(Word& a, Word& b, Word mask, int n) {
  const Word t = ((a >> n) ^ b) & mask;
  b ^= t;
  a ^= t << n;
}

TKDC_HD void slice(Word (&w)[8]) {
  TKDC_UNROLL
  for (int i = 0; i < 8; i += 2) swap_move(w[i], w[i + 1], 0x55555555u, 1);
  TKDC_UNROLL
  for (int i = 0; i < 8; ++i)
    if ((i & 2) == 0) swap_move(w[i], w[i + 2], 0x33333333u, 2);
  TKDC_UNROLL
  for (int i = 0; i < 4; ++i) swap_move(w[i], w[i + 4], 0x0f0f0f0fu, 4);
}

}  // namespace tkdc::cuda
