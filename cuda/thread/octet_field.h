// SPDX-License-Identifier: Apache-2.0
// The AES field on 32 octets in 8 planes, and the additive Fourier transform of
// rep3/verify/extension.h in three steps of one thread each: a value at the octets 0..31 becomes
// one at 32..63.
//
// kPart is which eight of the 32 a thread has in the first and the last step; in the one between
// it has four that stand 8 apart. All is secret; constant time, in registers.
#pragma once

#include "cuda/thread/sbox_layers.h"
#include "rep3/verify/extension_factors.h"

namespace tkdc::cuda {

using Planes = Word[8];

// x^8 = x^4 + x^3 + x + 1.
TKDC_HD void multiply_octets(const Planes& a, const Planes& b, Planes& out) {
  Word product[15];
  TKDC_UNROLL
  for (int k = 0; k < 15; ++k) product[k] = 0;
  TKDC_UNROLL
  for (int i = 0; i < 8; ++i) {
    TKDC_UNROLL
    for (int k = 0; k < 8; ++k) product[i + k] ^= a[i] & b[k];
  }
  TKDC_UNROLL
  for (int k = 14; k >= 8; --k) {
    product[k - 4] ^= product[k];
    product[k - 5] ^= product[k];
    product[k - 7] ^= product[k];
    product[k - 8] ^= product[k];
  }
  TKDC_UNROLL
  for (int k = 0; k < 8; ++k) out[k] = product[k];
}

TKDC_HD void add_planes(const Planes& a, Planes& sum) {
  TKDC_UNROLL
  for (int k = 0; k < 8; ++k) sum[k] ^= a[k];
}

// Worked out by the host's compiler: its functions are not called on the device.
template <bool kBack, int kLevel, std::size_t kGroup>
struct ButterflyMatrix {
  static constexpr std::uint64_t value =
      gf64::kExtension.matrix[gf64::ExtensionFactors::index(kBack, kLevel, kGroup)];
};

template <std::uint64_t kMatrix>
TKDC_HD void add_times_factor(const Planes& a, Planes& sum) {
  Planes product;
  linear_map<kMatrix>(a, product);
  add_planes(product, sum);
}

// extension.h's, of one group.
template <bool kBack, int kLevel, std::size_t kGroup>
TKDC_HD void butterfly(Planes& low, Planes& high) {
  constexpr std::uint64_t kFactor = ButterflyMatrix<kBack, kLevel, kGroup>::value;
  if constexpr (kBack) {
    add_planes(low, high);
    if constexpr (kGroup != 0) add_times_factor<kFactor>(high, low);  // else it is 0
  } else {
    add_times_factor<kFactor>(high, low);
    add_planes(low, high);
  }
}

template <bool kBack, int kLevel, std::size_t kPart, std::size_t kIndex>
TKDC_HD void butterfly_of_eight(Planes (&v)[8]) {
  constexpr std::size_t half = std::size_t{1} << kLevel;
  constexpr std::size_t low = kIndex / half * 2 * half + kIndex % half;
  constexpr std::size_t group = (8 * kPart + low) >> (kLevel + 1);
  butterfly<kBack, kLevel, group>(v[low], v[low + half]);
}
template <bool kBack, int kLevel, std::size_t kPart>
TKDC_HD void level_of_eight(Planes (&v)[8]) {
  butterfly_of_eight<kBack, kLevel, kPart, 0>(v);
  butterfly_of_eight<kBack, kLevel, kPart, 1>(v);
  butterfly_of_eight<kBack, kLevel, kPart, 2>(v);
  butterfly_of_eight<kBack, kLevel, kPart, 3>(v);
}

// Levels 0 to 2.
template <bool kBack, std::size_t kPart>
TKDC_HD void transform_eight(Planes (&v)[8]) {
  level_of_eight<kBack, kBack ? 0 : 2, kPart>(v);
  level_of_eight<kBack, 1, kPart>(v);
  level_of_eight<kBack, kBack ? 2 : 0, kPart>(v);
}
template <bool kBack>
TKDC_HD void transform_eight(std::uint32_t part, Planes (&v)[8]) {
  switch (part) {
    case 0: return transform_eight<kBack, 0>(v);
    case 1: return transform_eight<kBack, 1>(v);
    case 2: return transform_eight<kBack, 2>(v);
    default: return transform_eight<kBack, 3>(v);
  }
}

// Levels 3 and 4, back and forth, of the values k, k + 8, k + 16, k + 24.
TKDC_HD void transform_four(Planes (&v)[4]) {
  butterfly<true, 3, 0>(v[0], v[1]);
  butterfly<true, 3, 1>(v[2], v[3]);
  TKDC_UNROLL
  for (int k = 0; k < 2; ++k) {
    butterfly<true, 4, 0>(v[k], v[k + 2]);
    butterfly<false, 4, 0>(v[k], v[k + 2]);
  }
  butterfly<false, 3, 0>(v[0], v[1]);
  butterfly<false, 3, 1>(v[2], v[3]);
}

}  // namespace tkdc::cuda
