// SPDX-License-Identifier: Apache-2.0
// Words to planes and back, in the registers of one thread: bit k of word n becomes bit n of word
// k of 32 (Warren, Hacker's Delight, section 7-3). Its own inverse. Branch-free; what it moves
// may be secret.
#pragma once

#include "cuda/thread/slice.h"

namespace tkdc::cuda {

template <int kDistance>
TKDC_HD void exchange_squares(Word (&w)[32], Word mask) {
  TKDC_UNROLL
  for (int k = 0; k < 32; ++k)
    if ((k & kDistance) == 0) swap_move(w[k], w[k + kDistance], mask, kDistance);
}

TKDC_HD void transpose(Word (&w)[32]) {
  exchange_squares<16>(w, 0x0000ffffu);
  exchange_squares<8>(w, 0x00ff00ffu);
  exchange_squares<4>(w, 0x0f0f0f0fu);
  exchange_squares<2>(w, 0x33333333u);
  exchange_squares<1>(w, 0x55555555u);
}

}  // namespace tkdc::cuda
