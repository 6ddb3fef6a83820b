// SPDX-License-Identifier: Apache-2.0
// The linear steps of an AES round on one state of 16 octets, four words in the registers of one
// thread: a word is a column, row 0 in its low octet (FIPS 197, section 3.4). Constant time.
#pragma once

#include "cuda/thread/sbox_layers.h"

namespace tkdc::cuda {

// Column k of a matrix as GF2P8AFFINEQB takes it: the image of bit k.
constexpr Word matrix_column(std::uint64_t matrix, int k) {
  Word column = 0;
  for (int row = 0; row < 8; ++row)
    column |= static_cast<Word>(matrix >> (8 * (7 - row) + k) & 1) << row;
  return column;
}
template <std::uint64_t kMatrix, int kBit>
struct MatrixColumn {
  static constexpr Word value = matrix_column(kMatrix, kBit);
};

template <std::uint64_t kMatrix>
TKDC_HD Word map_octets(Word a) {
  constexpr Word kOnes = 0x01010101u;
  return (a & kOnes) * MatrixColumn<kMatrix, 0>::value ^
         (a >> 1 & kOnes) * MatrixColumn<kMatrix, 1>::value ^
         (a >> 2 & kOnes) * MatrixColumn<kMatrix, 2>::value ^
         (a >> 3 & kOnes) * MatrixColumn<kMatrix, 3>::value ^
         (a >> 4 & kOnes) * MatrixColumn<kMatrix, 4>::value ^
         (a >> 5 & kOnes) * MatrixColumn<kMatrix, 5>::value ^
         (a >> 6 & kOnes) * MatrixColumn<kMatrix, 6>::value ^
         (a >> 7 & kOnes) * MatrixColumn<kMatrix, 7>::value;
}

TKDC_HD Word times_two(Word a) { return (a & 0x7f7f7f7fu) << 1 ^ (a >> 7 & 0x01010101u) * 0x1bu; }

// Row r, column c from column c + direction * r.
template <int kDirection>
TKDC_HD void shift_rows(const Word (&in)[4], Word (&out)[4]) {
  TKDC_UNROLL
  for (int c = 0; c < 4; ++c) {
    Word column = 0;
    TKDC_UNROLL
    for (int r = 0; r < 4; ++r) column |= in[(c + kDirection * r + 4) & 3] & 0xffu << 8 * r;
    out[c] = column;
  }
}

TKDC_HD Word mix_column(Word a) {
  const Word next = rotate_right(a, 8), sum = a ^ next;
  return times_two(sum) ^ next ^ rotate_right(sum, 16);
}

// InvMixColumns = MixColumns after adding 4 (a_r + a_{r+2}).
TKDC_HD Word inv_mix_column(Word a) {
  return mix_column(a ^ times_two(times_two(a ^ rotate_right(a, 16))));
}

}  // namespace tkdc::cuda
