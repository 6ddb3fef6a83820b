// SPDX-License-Identifier: Apache-2.0
// One-hot vectors on shares and the inversion of AES by them: local work only.
//
// e_r, of 256 bits, has a one at r alone. With t = a + r known to all,
//   a^-1 = sum over u of e_r(u + t) u^-1,
// which is linear in e_r, and e_r is the product of the vectors of r's two
// nibbles: e_r(16 i + j) = high(i) low(j). So what is shared as two vectors of 16
// bits gives each party its terms of a^-1 (they add up to it), and what is shared as
// the whole vector gives components of it.
//
// Source: Keller, Orsini, Rotaru, Scholl, Soria-Vazquez, Vivek 2017 (tables by masked
// openings); Morita et al. 2024 (ePrint 2024/1317), on replicated shares. t is public,
// all else is secret: no branch and no index depends on it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tkdc::one_hot {

// A nibble's vector as its monomials are: bit k is the product of the bits that k
// has. Linear, so on each component alone; bit 0 is the constant 1.
std::uint16_t vector_of_nibble(std::uint16_t monomials);
// The same for an octet: 256 bits, index 16 * (those of the high nibble) + low nibble's.
inline constexpr std::size_t kVectorWords = 4;
void vector_of_octet(std::uint64_t monomials[kVectorWords]);

// The vectors of two nibbles on shares, [component].
struct Halves {
  std::uint16_t low[2], high[2];
};

// This party's terms of (r + t)^-1.
std::uint8_t inverse_terms(const Halves& vector, std::uint8_t t);
// One component of (r + t)^-1.
std::uint8_t inverse_component(const std::uint64_t vector[kVectorWords], std::uint8_t t);

}  // namespace tkdc::one_hot
