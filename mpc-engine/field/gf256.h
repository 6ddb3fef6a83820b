// SPDX-License-Identifier: Apache-2.0
// GF(2^8) as AES has it (FIPS 197, section 4): modulo x^8 + x^4 + x^3 + x + 1. One octet at a time,
// in constant time; vector kernels have their own.
#pragma once

#include <cstdint>

namespace tkdc {

constexpr std::uint8_t gf256_times_x(std::uint8_t a) {
  return static_cast<std::uint8_t>(a << 1 ^ (0x11bu & (0u - (a >> 7 & 1u))));
}

constexpr std::uint8_t gf256_multiply(std::uint8_t a, std::uint8_t b) {
  unsigned product = 0;
  for (int k = 0; k < 8; ++k) {
    product ^= a & (0u - (b >> k & 1u));
    a = gf256_times_x(a);
  }
  return static_cast<std::uint8_t>(product);
}

// Of 0: 0.
constexpr std::uint8_t gf256_inverse(std::uint8_t a) {
  std::uint8_t result = 1;  // a^254
  for (int k = 1; k < 8; ++k) {
    a = gf256_multiply(a, a);
    result = gf256_multiply(result, a);
  }
  return result;
}

}  // namespace tkdc
