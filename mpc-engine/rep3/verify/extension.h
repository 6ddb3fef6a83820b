// SPDX-License-Identifier: Apache-2.0
// Polynomials of degree 31 over the AES field, given at the octets 0..31 (a
// subgroup, so called the vertices): their values at 31 of the octets 32..63, by
// the additive Fourier transform in the basis of Lin, Chung and Han (2014).
#pragma once

#include <utility>

#include "rep3/verify/extension_factors.h"

namespace tkdc::gf64 {

// One butterfly; everything about it is known when this is compiled, so that vectors of
// 16 registers stay in registers.
template <bool kBack, int kLevel, std::size_t kFirst, std::size_t kIndex, class W, class F>
inline __attribute__((always_inline)) void butterfly(W (&v)[kHalf], F multiply) {
  constexpr std::size_t half = std::size_t{1} << kLevel;
  constexpr std::size_t low = kIndex / half * 2 * half + kIndex % half, high = low + half;
  constexpr std::size_t group = (kFirst + low) >> (kLevel + 1);
  constexpr std::size_t factor = ExtensionFactors::index(kBack, kLevel, group);
  if constexpr (kBack) {
    v[high] = v[high] ^ v[low];
    if constexpr (group != 0) v[low] = v[low] ^ multiply(v[high], factor);  // else it is 0
  } else {
    v[low] = v[low] ^ multiply(v[high], factor);
    v[high] = v[high] ^ v[low];
  }
}

template <bool kBack, int kLevel, std::size_t kFirst, class W, class F, std::size_t... kIndex>
inline __attribute__((always_inline)) void butterflies(W (&v)[kHalf], F multiply,
                                                       std::index_sequence<kIndex...>) {
  (butterfly<kBack, kLevel, kFirst, kIndex>(v, multiply), ...);
}

// Levels 0 to 3 of the half that begins at kFirst: back to coefficients, or from there.
template <bool kBack, std::size_t kFirst, class W, class F>
inline __attribute__((always_inline)) void half_way(W (&v)[kHalf], F multiply) {
  constexpr std::make_index_sequence<kHalf / 2> all;
  butterflies<kBack, kBack ? 0 : 3, kFirst>(v, multiply, all);
  butterflies<kBack, kBack ? 1 : 2, kFirst>(v, multiply, all);
  butterflies<kBack, kBack ? 2 : 1, kFirst>(v, multiply, all);
  butterflies<kBack, kBack ? 3 : 0, kFirst>(v, multiply, all);
}

// load(first, k): the value at vertex first + k, k < 16 -> out[k]: at vertex k + 32. W:
// anything with ^; multiply(w, k): w times factor k.
template <class W, class Load, class F>
inline __attribute__((always_inline)) void extend(Load load, W* out, F multiply) {
  W v[kHalf];
#pragma GCC unroll 16
  for (std::size_t k = 0; k < kHalf; ++k) v[k] = load(0, k);
  half_way<true, 0>(v, multiply);
#pragma GCC unroll 16
  for (std::size_t k = 0; k < kHalf; ++k) out[k] = v[k];
#pragma GCC unroll 16
  for (std::size_t k = 0; k < kHalf; ++k) v[k] = load(kHalf, k);
  half_way<true, kHalf>(v, multiply);
  // Level 4, back and forth.
#pragma GCC unroll 16
  for (std::size_t k = 0; k < kHalf; ++k) {
    v[k] = v[k] ^ out[k];
    out[k] = out[k] ^ multiply(v[k], ExtensionFactors::index(false, kLevels - 1, 0));
    v[k] = v[k] ^ out[k];
  }
  half_way<false, kHalf>(v, multiply);
#pragma GCC unroll 16
  for (std::size_t k = 0; k < kHalf; ++k) out[kHalf + k] = v[k];
#pragma GCC unroll 16
  for (std::size_t k = 0; k < kHalf; ++k) v[k] = out[k];
  half_way<false, 0>(v, multiply);
#pragma GCC unroll 16
  for (std::size_t k = 0; k < kHalf; ++k) out[k] = v[k];
}

}  // namespace tkdc::gf64
