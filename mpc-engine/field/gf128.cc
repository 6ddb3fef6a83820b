// SPDX-License-Identifier: Apache-2.0
// The portable product, which is the reference, and the choice between the two.
#include "field/gf128.h"

#include <initializer_list>

namespace tkdc {
namespace {

struct Element {
  std::uint64_t high, low;  // high holds the octets 0..7, first bit on top
};

std::uint64_t load_be64(const std::uint8_t* p) {
  std::uint64_t v = 0;
  for (int k = 0; k < 8; ++k) v = v << 8 | p[k];
  return v;
}

void store_be64(std::uint8_t* p, std::uint64_t v) {
  for (int k = 0; k < 8; ++k) p[k] = static_cast<std::uint8_t>(v >> (56 - 8 * k));
}

// Multiplication by the field's x: a shift towards the last bit.
Element times_x(Element v) {
  const std::uint64_t reduce = 0 - (v.low & 1);
  return {v.high >> 1 ^ (reduce & 0xe100000000000000u), v.low >> 1 | v.high << 63};
}

}  // namespace

void gf128_multiply_add_scalar(std::uint8_t* out, const std::uint8_t* a, const std::uint8_t* b) {
  Element v = {load_be64(b), load_be64(b + 8)};
  Element z = {0, 0};
  for (std::uint64_t word : {load_be64(a), load_be64(a + 8)})
    for (int k = 63; k >= 0; --k) {
      const std::uint64_t take = 0 - (word >> k & 1);
      z.high ^= v.high & take;
      z.low ^= v.low & take;
      v = times_x(v);
    }
  store_be64(out, load_be64(out) ^ z.high);
  store_be64(out + 8, load_be64(out + 8) ^ z.low);
}

void gf128_multiply_add(std::uint8_t* out, const std::uint8_t* a, const std::uint8_t* b) {
  static const Gf128MultiplyAdd clmul = gf128_multiply_add_clmul();
  static const Gf128MultiplyAdd fastest = clmul ? clmul : gf128_multiply_add_scalar;
  fastest(out, a, b);
}

void gf128_dot_add_scalar(std::uint8_t* out, std::size_t n, const std::uint8_t* a,
                          const std::uint8_t* b) {
  for (std::size_t k = 0; k < n; ++k)
    gf128_multiply_add_scalar(out, a + k * kGf128Bytes, b + k * kGf128Bytes);
}

void gf128_dot_add(std::uint8_t* out, std::size_t n, const std::uint8_t* a, const std::uint8_t* b) {
  static const Gf128DotAdd clmul = gf128_dot_add_clmul();
  static const Gf128DotAdd fastest = clmul ? clmul : gf128_dot_add_scalar;
  fastest(out, n, a, b);
}

}  // namespace tkdc
