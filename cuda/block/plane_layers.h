// SPDX-License-Identifier: Apache-2.0
// Where the S-box's layers (sbox.h) read and write in a cohort that stands in planes
// (rep3/unit/aes/plane_cohort.h): what semi-honest sessions with a CPU without GFNI speak. Thread t
// takes word t of every plane; nothing is sliced.
#pragma once

#include "cuda/block/sbox.h"

namespace tkdc::cuda::planes {

struct Form : Alone {
  // Words of one bit's planes.
  TKDC_HD static std::uint32_t words(const View& v) { return 4 * v.group; }
  static std::uint32_t threads(const View& v) { return words(v); }

  TKDC_HD static void load_input(const View& v, std::uint32_t t, Pair (&out)[8]) {
    Word x[8], y[8];
    TKDC_UNROLL
    for (int k = 0; k < 8; ++k) {
      const std::size_t at = static_cast<std::size_t>(k) * words(v) + t;
      x[k] = v.input[0][at];
      y[k] = v.input[1][at];
    }
    to_tower(x, y, out);
  }
  template <int kBits>
  TKDC_HD static void load(const View& v, int layer, std::uint32_t t, Pair (&out)[kBits]) {
    TKDC_UNROLL
    for (int k = 0; k < kBits; ++k) {
      const std::size_t at = static_cast<std::size_t>(k) * words(v) + t;
      out[k] = {v.mine[layer][at], v.theirs[layer][at]};
    }
  }
  template <int kBits>
  TKDC_HD static void store(const View& v, int layer, std::uint32_t t, const Word (&in)[kBits]) {
    TKDC_UNROLL
    for (int k = 0; k < kBits; ++k)
      v.mine[layer][static_cast<std::size_t>(k) * words(v) + t] = in[k];
  }
};

struct Norm : cuda::Norm<Form> {};
struct Pairs : cuda::Pairs<Form> {};
struct Invert : cuda::Invert<Form> {};
struct Product : cuda::Product<Form> {};

}  // namespace tkdc::cuda::planes
