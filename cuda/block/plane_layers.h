// SPDX-License-Identifier: Apache-2.0
// The S-box layers of a cohort that stands in planes (rep3/unit/aes/plane_cohort.h): what
// semi-honest sessions with a CPU without GFNI speak. Thread t takes word t of every plane; nothing
// is sliced.
#pragma once

#include "cuda/block/view.h"
#include "cuda/thread/sbox_layers.h"

namespace tkdc::cuda::planes {

// Words of one bit's planes.
TKDC_HD std::uint32_t plane_words(const View& v) { return 4 * v.group; }

struct LayerBody : Alone {
  static std::uint32_t threads(const View& v) { return plane_words(v); }
};

template <int kBits>
TKDC_HD void load(const View& v, const Word* x, const Word* y, std::uint32_t t,
                  Pair (&out)[kBits]) {
  TKDC_UNROLL
  for (int k = 0; k < kBits; ++k) {
    const std::size_t at = static_cast<std::size_t>(k) * plane_words(v) + t;
    out[k] = {x[at], y[at]};
  }
}

template <int kBits>
TKDC_HD void store(const View& v, Word* to, std::uint32_t t, const Word (&in)[kBits]) {
  TKDC_UNROLL
  for (int k = 0; k < kBits; ++k) to[static_cast<std::size_t>(k) * plane_words(v) + t] = in[k];
}

TKDC_HD void load_tower(const View& v, std::uint32_t t, Pair (&out)[8]) {
  Word x[8], y[8];
  TKDC_UNROLL
  for (int k = 0; k < 8; ++k) {
    const std::size_t at = static_cast<std::size_t>(k) * plane_words(v) + t;
    x[k] = v.input[0][at];
    y[k] = v.input[1][at];
  }
  to_tower(x, y, out);
}

struct Norm : LayerBody {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    Pair a[8];
    Word d[4];
    load_tower(v, t, a);
    norm_terms(a, d);
    store(v, v.mine[0], t, d);
  }
};

struct Pairs : LayerBody {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    Pair d[4];
    Word q[2];
    load(v, v.mine[0], v.theirs[0], t, d);
    pair_terms(d, q);
    store(v, v.mine[1], t, q);
  }
};

struct Invert : LayerBody {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    Pair d[4], q[2];
    Word e[4];
    load(v, v.mine[0], v.theirs[0], t, d);
    load(v, v.mine[1], v.theirs[1], t, q);
    invert_terms(d, q, e);
    store(v, v.mine[2], t, e);
  }
};

struct Product : LayerBody {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Shared&) {
    Pair a[8], e[4];
    Word inverse[8];
    load_tower(v, t, a);
    load(v, v.mine[2], v.theirs[2], t, e);
    product_terms(a, e, inverse);
    store(v, v.mine[3], t, inverse);
  }
};

}  // namespace tkdc::cuda::planes
