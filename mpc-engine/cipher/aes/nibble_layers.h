// SPDX-License-Identifier: Apache-2.0
// Layers 2 and 3 of the S-box on packed nibbles, written once for every word
// type with &, ^, |, << and >> (shifts within 8-, 32- or 64-bit lanes: what
// crosses an octet's border is masked off).
//
// x, y: components i and i+1. The terms of a product a*b that party i adds up
// are a_i b_i ^ a_i b_{i+1} ^ a_{i+1} b_i = a_i (b_i ^ b_{i+1}) ^ a_{i+1} b_i.
#pragma once

#include <type_traits>

#include "sbox_constants.h"

namespace tkdc::nibble {

template <class W>
struct Bit {
  W x, y;
};

template <class W>
inline W splat(W like, std::uint32_t octet) {
  if constexpr (std::is_integral_v<W>)
    return static_cast<W>(W(~W{0}) / 0xff * octet);
  else
    return like.splat(octet);
}

template <class W>
inline W product(Bit<W> a, Bit<W> b) {
  return (a.x & (b.x ^ b.y)) ^ (a.y & b.x);
}

// q1 = d0 d1 in bits 0 and 4, q2 = d2 d3 in bits 1 and 5.
template <class W>
inline W pair_terms(W x, W y) {
  W t = product(Bit<W>{x, y}, Bit<W>{x >> 1, y >> 1});
  return (t & splat(x, 0x11)) | ((t >> 1) & splat(x, 0x22));
}

// e = d^-1; q in bits 0, 1, 4, 5 of qx and qy, the others are ignored.
template <class W>
inline W invert_terms(W x, W y, W qx, W qy) {
  const W one = splat(x, 0x11);
  auto bit = [&](W px, W py, int k) { return Bit<W>{(px >> k) & one, (py >> k) & one}; };
  const Bit<W> d0 = bit(x, y, 0), d1 = bit(x, y, 1), d2 = bit(x, y, 2), d3 = bit(x, y, 3);
  const Bit<W> q1 = bit(qx, qy, 0), q2 = bit(qx, qy, 1);
  W e = splat(x, 0);
  auto add = [&](W terms, int mask) {
    for (int k = 0; k < 4; ++k)
      if (mask >> k & 1) e = e ^ (terms << k);
  };
#define LINEAR(a, mask) add(a.x, mask);
#define PRODUCT(a, b, mask) add(product(a, b), mask);
  TKDC_SBOX_INVERT_TERMS(LINEAR, PRODUCT)
#undef LINEAR
#undef PRODUCT
  return e;
}

}  // namespace tkdc::nibble
