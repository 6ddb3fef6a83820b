// SPDX-License-Identifier: Apache-2.0
// Linear maps on octets' bits, and what turns both components of a replicated share into
// one octet of a Shamir share (Cramer, Damgaard, Ishai, TCC 2005): x_i + w x_{i+1}, with w of
// order 3 in the AES field. Constant time: no branch and no index depends on an octet.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "field/gf256.h"

namespace tkdc {

// A linear map: the images of the bits 0 .. 7.
using OctetMap = std::array<std::uint8_t, 8>;

// GF(4) in the AES field is 0, 1, w, w^2.
inline constexpr std::uint8_t kOmega = 0xbc, kOmegaSquare = 0xbd;

constexpr std::uint8_t image_of(const OctetMap& map, std::uint8_t octet) {
  unsigned image = 0;
  for (unsigned bit = 0; bit < 8; ++bit) image ^= map[bit] & (0u - (octet >> bit & 1u));
  return static_cast<std::uint8_t>(image);
}

// The product with an octet of the AES field.
constexpr OctetMap times(std::uint8_t factor) {
  OctetMap map{};
  for (std::uint8_t& octet : map) {
    octet = factor;
    factor = gf256_times_x(factor);
  }
  return map;
}
inline constexpr OctetMap kTimesOmega = times(kOmega), kTimesOmegaSquare = times(kOmegaSquare);
static_assert(image_of(kTimesOmega, kOmega) == kOmegaSquare &&
              image_of(kTimesOmega, kOmegaSquare) == 1 && (1 ^ kOmega) == kOmegaSquare);

inline constexpr OctetMap kIdentity = times(1);

// The map as GF2P8AFFINEQB takes it: row i is octet 7 - i.
constexpr std::uint64_t affine_matrix(const OctetMap& map) {
  std::uint64_t matrix = 0;
  for (std::size_t bit = 0; bit < 8; ++bit)
    for (std::size_t row = 0; row < 8; ++row)
      matrix |= std::uint64_t{map[bit] >> row & 1u} << (8 * (7 - row) + bit);
  return matrix;
}

// out[k] = a[k] + map(b[k]) for `octets` octets; out may be a.
void add_mapped(const OctetMap& map, const std::uint8_t* a, const std::uint8_t* b,
                std::size_t octets, std::uint8_t* out);
// The reference, eight octets in a word.
void add_mapped_portable(const OctetMap& map, const std::uint8_t* a, const std::uint8_t* b,
                         std::size_t octets, std::uint8_t* out);

}  // namespace tkdc
