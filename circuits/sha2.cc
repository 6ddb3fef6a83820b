// SPDX-License-Identifier: Apache-2.0
#include "circuits/sha2.h"

#include <algorithm>

namespace tkdc::circuits::sha2_detail {
namespace {

using Number = std::array<std::uint32_t, 8>;  // 256 bits, lowest first

Number product(const Number& a, const Number& b) {
  Number out{};
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t k = 0; i + k < a.size(); ++k) {
      carry += out[i + k] + std::uint64_t{a[i]} * b[k];
      out[i + k] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }
  return out;
}

bool at_most(const Number& a, const Number& b) {
  return !std::lexicographical_compare(b.rbegin(), b.rend(), a.rbegin(), a.rend());
}

// x with x^3 <= prime 2^192 < (x + 1)^3, which is the cube root times 2^64: its low 64 bits. Roots
// are below 8, so x has 67 bits, and its cube fits.
std::uint64_t root_fraction(std::uint32_t prime) {
  Number root{}, goal{};
  goal[6] = prime;
  for (std::size_t bit = 67; bit-- > 0;) {
    Number tried = root;
    tried[bit / 32] |= std::uint32_t{1} << bit % 32;
    if (at_most(product(product(tried, tried), tried), goal)) root = tried;
  }
  return std::uint64_t{root[1]} << 32 | root[0];
}

bool is_prime(std::uint32_t n) {
  for (std::uint32_t k = 2; k * k <= n; ++k)
    if (n % k == 0) return false;
  return true;
}

}  // namespace

const std::array<std::uint64_t, 80>& constants() {
  static const std::array<std::uint64_t, 80> all = [] {
    std::array<std::uint64_t, 80> found{};
    std::uint32_t prime = 2;
    for (std::uint64_t& one : found) {
      while (!is_prime(prime)) ++prime;
      one = root_fraction(prime++);
    }
    return found;
  }();
  return all;
}

}  // namespace tkdc::circuits::sha2_detail
