// SPDX-License-Identifier: Apache-2.0
// Polynomials of degree 31 over the AES field, given at the octets 0..31 (a
// subgroup, so called the vertices): their values at 31 of the octets 32..63, by
// the additive Fourier transform in the basis of Lin, Chung and Han (2014).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tkdc::gf64 {

inline constexpr int kLevels = 5;
inline constexpr std::size_t kVertices = std::size_t{1} << kLevels, kHalf = kVertices / 2;
inline constexpr std::size_t kExtraPoints = kVertices - 1;
constexpr std::uint8_t extra_point(std::size_t k) {
  return static_cast<std::uint8_t>(kVertices + k);
}

constexpr std::uint8_t octet_product(std::uint8_t a, std::uint8_t b) {
  unsigned product = 0;
  for (int k = 7; k >= 0; --k) {
    product = (product << 1) ^ (0x11bu & (0u - (product >> 7 & 1)));
    product ^= a & (0u - (b >> k & 1u));
  }
  return static_cast<std::uint8_t>(product);
}
constexpr std::uint8_t octet_inverse(std::uint8_t a) {
  std::uint8_t result = 1;
  for (int k = 1; k < 8; ++k) {
    a = octet_product(a, a);
    result = octet_product(result, a);
  }
  return result;
}

// The factors of the butterflies: those of level 0's groups, of level 1's, ..; first
// on the way back to coefficients, then on the way to the other points.
struct ExtensionFactors {
  static constexpr std::size_t kOneWay = kVertices - 1;
  std::array<std::uint8_t, 2 * kOneWay> octet{};
  std::array<std::uint64_t, 2 * kOneWay> matrix{};  // multiplication, for GF2P8AFFINEQB

  static constexpr std::size_t index(bool back, int level, std::size_t group) {
    return (back ? 0 : kOneWay) + kVertices - (kVertices >> level) + group;
  }
  constexpr ExtensionFactors() {
    for (bool back : {true, false})
      for (int level = 0; level < kLevels; ++level)
        for (std::size_t group = 0; group < kVertices >> (level + 1); ++group) {
          const std::size_t first = (back ? 0 : kVertices) + (group << (level + 1));
          const std::uint8_t factor = vanishing(level, static_cast<std::uint8_t>(first));
          octet[index(back, level, group)] = factor;
          matrix[index(back, level, group)] = matrix_of(factor);
        }
  }

 private:
  // The polynomial that is 0 at the octets below 2^level and 1 at 2^level.
  static constexpr std::uint8_t vanishing(int level, std::uint8_t at) {
    std::uint8_t value = 1, unit = 1;
    for (unsigned root = 0; root < 1u << level; ++root) {
      value = octet_product(value, static_cast<std::uint8_t>(at ^ root));
      unit = octet_product(unit, static_cast<std::uint8_t>((1u << level) ^ root));
    }
    return octet_product(value, octet_inverse(unit));
  }
  static constexpr std::uint64_t matrix_of(std::uint8_t factor) {
    std::uint64_t m = 0;
    for (int bit = 0; bit < 8; ++bit) {
      const std::uint8_t image = octet_product(factor, static_cast<std::uint8_t>(1u << bit));
      for (int row = 0; row < 8; ++row)
        m |= std::uint64_t{image >> row & 1u} << (8 * (7 - row) + bit);
    }
    return m;
  }
};
inline constexpr ExtensionFactors kExtension;

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
