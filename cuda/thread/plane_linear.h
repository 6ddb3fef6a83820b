// SPDX-License-Identifier: Apache-2.0
// MixColumns and its inverse on planes in which octet r of a word is row r (FIPS 197, sections
// 5.1.3 and 5.3.3): neighbouring rows are a rotation away. In place, in registers.
#pragma once

#include "cuda/thread/host_device.h"

namespace tkdc::cuda {

// Multiplication by x in the AES field.
TKDC_HD void times_two_planes(const Word (&in)[8], Word (&out)[8]) {
  TKDC_UNROLL
  for (int k = 0; k < 8; ++k) {
    out[k] = in[(k + 7) & 7];
    if (k == 1 || k == 3 || k == 4) out[k] ^= in[7];
  }
}

// b_r = 2 (a_r + a_{r+1}) + a_{r+1} + a_{r+2} + a_{r+3}
TKDC_HD void mix_planes(Word (&a)[8]) {
  Word sum[8], twice[8];
  TKDC_UNROLL
  for (int k = 0; k < 8; ++k) sum[k] = a[k] ^ rotate_right(a[k], 8);
  times_two_planes(sum, twice);
  TKDC_UNROLL
  for (int k = 0; k < 8; ++k) a[k] = twice[k] ^ rotate_right(a[k], 8) ^ rotate_right(sum[k], 16);
}

// InvMixColumns = MixColumns after adding 4 (a_r + a_{r+2}).
TKDC_HD void inv_mix_planes(Word (&a)[8]) {
  Word sum[8], twice[8], fourfold[8];
  TKDC_UNROLL
  for (int k = 0; k < 8; ++k) sum[k] = a[k] ^ rotate_right(a[k], 16);
  times_two_planes(sum, twice);
  times_two_planes(twice, fourfold);
  TKDC_UNROLL
  for (int k = 0; k < 8; ++k) a[k] ^= fourfold[k];
  mix_planes(a);
}

}  // namespace tkdc::cuda
