// SPDX-License-Identifier: Apache-2.0
// Polynomials of degree 15 over the AES field, given at the octets 0..15 (a
// subgroup, so called the vertices): their values at 15 of the octets 16..31, by
// the additive Fourier transform in the basis of Lin, Chung and Han (2014).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tkdc::gf64 {

inline constexpr std::size_t kExtraPoints = 15;
inline constexpr std::size_t kVertices = 16;
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

// The factors of the butterflies in the order in which extend() needs them.
struct ExtensionFactors {
  static constexpr std::size_t kCount = 2 * 4 * 8;
  std::array<std::uint8_t, kCount> octet{};
  std::array<std::uint64_t, kCount> matrix{};  // multiplication, for GF2P8AFFINEQB

  constexpr ExtensionFactors() {
    std::size_t next = 0;
    for (int level = 0; level < 4; ++level) next = add_level(level, 0, next);
    for (int level = 3; level >= 0; --level) next = add_level(level, kVertices, next);
    for (std::size_t k = 0; k < kCount; ++k) matrix[k] = matrix_of(octet[k]);
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
  // One for each butterfly, though those of a group have the same.
  constexpr std::size_t add_level(int level, std::size_t offset, std::size_t next) {
    const std::size_t half = std::size_t{1} << level;
    for (std::size_t first = 0; first < kVertices; first += 2 * half)
      for (std::size_t k = 0; k < half; ++k)
        octet[next++] = vanishing(level, static_cast<std::uint8_t>(offset + first));
    return next;
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
template <int kLevel, bool kBack, std::size_t kIndex, class W, class F>
inline __attribute__((always_inline)) void butterfly(W (&v)[kVertices], F multiply) {
  constexpr std::size_t half = std::size_t{1} << kLevel, group = kIndex / half;
  constexpr std::size_t low = 2 * half * group + kIndex % half, high = low + half;
  constexpr std::size_t factor = 8 * (kBack ? kLevel : 7 - kLevel) + kIndex;
  if constexpr (kBack) {
    v[high] = v[high] ^ v[low];
    if constexpr (group != 0) v[low] = v[low] ^ multiply(v[high], factor);
  } else {
    v[low] = v[low] ^ multiply(v[high], factor);
    v[high] = v[high] ^ v[low];
  }
}

template <int kLevel, bool kBack, class W, class F, std::size_t... kIndex>
inline __attribute__((always_inline)) void butterflies(W (&v)[kVertices], F multiply,
                                                       std::index_sequence<kIndex...>) {
  (butterfly<kLevel, kBack, kIndex>(v, multiply), ...);
}

// v: values at the vertices -> values at vertex k + 16. W: anything with ^;
// multiply(w, k): w times factor k.
template <class W, class F>
inline __attribute__((always_inline)) void extend(W (&v)[kVertices], F multiply) {
  constexpr std::make_index_sequence<8> all;
  butterflies<0, true>(v, multiply, all);
  butterflies<1, true>(v, multiply, all);
  butterflies<2, true>(v, multiply, all);
  butterflies<3, true>(v, multiply, all);
  butterflies<3, false>(v, multiply, all);
  butterflies<2, false>(v, multiply, all);
  butterflies<1, false>(v, multiply, all);
  butterflies<0, false>(v, multiply, all);
}

}  // namespace tkdc::gf64
