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

template <class W>
inline Bit<W> bit_of(W x, W y, int k) {
  const W one = splat(x, 0x11);
  return {(x >> k) & one, (y >> k) & one};
}

template <class W>
inline void add_to_bits(W& sum, W terms, int mask) {
  for (int k = 0; k < 4; ++k)
    if (mask >> k & 1) sum = sum ^ (terms << k);
}

// q = d^5, the norm in GF(4), in bits 0, 1 and 4, 5.
template <class W>
inline W pair_terms(W x, W y) {
  const Bit<W> d0 = bit_of(x, y, 0), d1 = bit_of(x, y, 1), d2 = bit_of(x, y, 2),
               d3 = bit_of(x, y, 3);
  W q = splat(x, 0);
#define LINEAR(a, mask) add_to_bits(q, a.x, mask);
#define PRODUCT(a, b, mask) add_to_bits(q, product(a, b), mask);
  TKDC_SBOX_NORM_TERMS(LINEAR, PRODUCT)
#undef LINEAR
#undef PRODUCT
  return q;
}

// e = d^-1; q in bits 0, 1, 4, 5 of qx and qy, the others are ignored.
template <class W>
inline W invert_terms(W x, W y, W qx, W qy) {
  const Bit<W> d0 = bit_of(x, y, 0), d1 = bit_of(x, y, 1), d2 = bit_of(x, y, 2),
               d3 = bit_of(x, y, 3);
  const Bit<W> q0 = bit_of(qx, qy, 0), q1 = bit_of(qx, qy, 1);
  W e = splat(x, 0);
#define LINEAR(a, mask) add_to_bits(e, a.x, mask);
#define PRODUCT(a, b, mask) add_to_bits(e, product(a, b), mask);
  TKDC_SBOX_INVERT_TERMS(LINEAR, PRODUCT)
#undef LINEAR
#undef PRODUCT
  return e;
}

}  // namespace tkdc::nibble
