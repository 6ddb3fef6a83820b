// SPDX-License-Identifier: Apache-2.0
// The S-box's four layers, of every cohort. What a layer's terms are is sbox_layers.h's; where a
// thread's words stand is the Form's (octet_layers.h, plane_layers.h):
//   load_input(v, t, a)  the S-boxes' inputs, in the tower's basis
//   load(v, layer, t, x)  both components of what that layer sent, 4 or 2 bits
//   store(v, layer, t, terms)  this layer's terms: 4, 2, 4 and 8 bits; the last ones leave the
//                              tower's basis here, or after it with the affine map
#pragma once

#include "cuda/block/view.h"
#include "cuda/thread/sbox_layers.h"

namespace tkdc::cuda {

template <class Form>
struct Norm : Form {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Alone::Shared&) {
    Pair a[8];
    Word d[4];
    Form::load_input(v, t, a);
    norm_terms(a, d);
    Form::store(v, 0, t, d);
  }
};

template <class Form>
struct Pairs : Form {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Alone::Shared&) {
    Pair d[4];
    Word q[2];
    Form::load(v, 0, t, d);
    pair_terms(d, q);
    Form::store(v, 1, t, q);
  }
};

template <class Form>
struct Invert : Form {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Alone::Shared&) {
    Pair d[4], q[2];
    Word e[4];
    Form::load(v, 0, t, d);
    Form::load(v, 1, t, q);
    invert_terms(d, q, e);
    Form::store(v, 2, t, e);
  }
};

template <class Form>
struct Product : Form {
  TKDC_HD static void run(const View& v, const Tick&, std::uint32_t t, const Alone::Shared&) {
    Pair a[8], e[4];
    Word inverse[8];
    Form::load_input(v, t, a);
    Form::load(v, 2, t, e);
    product_terms(a, e, inverse);
    Form::store(v, 3, t, inverse);
  }
};

}  // namespace tkdc::cuda
