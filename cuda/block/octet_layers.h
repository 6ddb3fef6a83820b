// SPDX-License-Identifier: Apache-2.0
// Where the S-box's layers (sbox.h) read and write in a cohort that stands in octets, as
// rep3/unit/aes/kernels.h packs them: what GFNI servers and malicious mode speak.
//
// Thread t takes words 2 t and 2 t + 1 of each quarter of the S-boxes, 32 of them: the quarters
// share the octets of d, q and e, so it reads and writes whole words of every message. Between
// memory and gates it slices in registers. Word 2 quarter + half of a slice is that word.
#pragma once

#include "cuda/block/sbox.h"

namespace tkdc::cuda::octets {

// Words 2 t and 2 t + 1 of `words`, from `at` on; 0 past the end.
TKDC_HD void load_two(const Word* at, std::uint32_t t, std::uint32_t words, Word (&out)[2]) {
  out[0] = at[2 * t];
  out[1] = 2 * t + 1 < words ? at[2 * t + 1] : 0;
}
TKDC_HD void store_two(Word* at, std::uint32_t t, std::uint32_t words, Word first, Word second) {
  at[2 * t] = first;
  if (2 * t + 1 < words) at[2 * t + 1] = second;
}

TKDC_HD void load_octets(const Word* from, std::uint32_t t, std::uint32_t blocks,
                         Word (&planes)[8]) {
  TKDC_UNROLL
  for (std::uint32_t quarter = 0; quarter < 4; ++quarter) {
    Word two[2];
    load_two(from + quarter * blocks, t, blocks, two);
    planes[2 * quarter] = two[0];
    planes[2 * quarter + 1] = two[1];
  }
  slice(planes);
}

TKDC_HD void load_nibbles(const Word* from, std::uint32_t t, std::uint32_t blocks,
                          Word (&planes)[8]) {
  TKDC_UNROLL
  for (std::uint32_t quarter = 0; quarter < 2; ++quarter) {
    Word two[2];
    load_two(from + quarter * blocks, t, blocks, two);
    TKDC_UNROLL
    for (std::uint32_t half = 0; half < 2; ++half) {
      planes[2 * quarter + half] = two[half] & 0x0f0f0f0fu;
      planes[2 * quarter + 4 + half] = two[half] >> 4 & 0x0f0f0f0fu;
    }
  }
  slice(planes);
}

TKDC_HD void load_pairs(const Word* from, std::uint32_t t, std::uint32_t blocks,
                        Word (&planes)[8]) {
  Word two[2];
  load_two(from, t, blocks, two);
  TKDC_UNROLL
  for (std::uint32_t quarter = 0; quarter < 4; ++quarter) {
    TKDC_UNROLL
    for (std::uint32_t half = 0; half < 2; ++half)
      planes[2 * quarter + half] = two[half] >> 2 * quarter & 0x03030303u;
  }
  slice(planes);
}

// The first kBits planes of both components.
template <int kBits>
TKDC_HD void pair_up(const Word (&x)[8], const Word (&y)[8], Pair (&out)[kBits]) {
  TKDC_UNROLL
  for (int k = 0; k < kBits; ++k) out[k] = {x[k], y[k]};
}

struct Form : Alone {
  static std::uint32_t threads(const View& v) { return (v.blocks + 1) / 2; }

  TKDC_HD static void load_input(const View& v, std::uint32_t t, Pair (&out)[8]) {
    Word x[8], y[8];
    load_octets(v.input[0], t, v.blocks, x);
    load_octets(v.input[1], t, v.blocks, y);
    to_tower(x, y, out);
  }
  TKDC_HD static void load(const View& v, int layer, std::uint32_t t, Pair (&out)[4]) {
    Word x[8], y[8];
    load_nibbles(v.mine[layer], t, v.blocks, x);
    load_nibbles(v.theirs[layer], t, v.blocks, y);
    pair_up(x, y, out);
  }
  TKDC_HD static void load(const View& v, int layer, std::uint32_t t, Pair (&out)[2]) {
    Word x[8], y[8];
    load_pairs(v.mine[layer], t, v.blocks, x);
    load_pairs(v.theirs[layer], t, v.blocks, y);
    pair_up(x, y, out);
  }

  TKDC_HD static void store(const View& v, int layer, std::uint32_t t, const Word (&in)[4]) {
    Word w[8] = {in[0], in[1], in[2], in[3], 0, 0, 0, 0};
    slice(w);
    Word* const to = v.mine[layer];
    store_two(to, t, v.blocks, w[0] | w[4] << 4, w[1] | w[5] << 4);
    store_two(to + v.blocks, t, v.blocks, w[2] | w[6] << 4, w[3] | w[7] << 4);
  }
  TKDC_HD static void store(const View& v, int layer, std::uint32_t t, const Word (&in)[2]) {
    Word w[8] = {in[0], in[1], 0, 0, 0, 0, 0, 0};
    slice(w);
    store_two(v.mine[layer], t, v.blocks, w[0] | w[2] << 2 | w[4] << 4 | w[6] << 6,
              w[1] | w[3] << 2 | w[5] << 4 | w[7] << 6);
  }
  // The inverses, out of the tower's basis.
  TKDC_HD static void store(const View& v, int layer, std::uint32_t t, const Word (&in)[8]) {
    Word w[8];
    linear_map<sbox::kFromTower>(in, w);
    slice(w);
    TKDC_UNROLL
    for (std::uint32_t quarter = 0; quarter < 4; ++quarter)
      store_two(v.mine[layer] + quarter * v.blocks, t, v.blocks, w[2 * quarter],
                w[2 * quarter + 1]);
  }
};

struct Norm : cuda::Norm<Form> {};
struct Pairs : cuda::Pairs<Form> {};
struct Invert : cuda::Invert<Form> {};
struct Product : cuda::Product<Form> {};

}  // namespace tkdc::cuda::octets
