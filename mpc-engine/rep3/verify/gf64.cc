// SPDX-License-Identifier: Apache-2.0
#include "rep3/verify/gf64.h"

#include <cstring>

#include "embedding_constants.h"

namespace tkdc::gf64 {

Element multiply(Element a, Element b) { return kernels().multiply(a, b); }

namespace {

// The lower 64 bits of the carry-less product: with three zeros after each bit, sums
// of up to 16 bits stay below the next one. Multiplication of integers takes the same
// time for all operands on the CPUs that this runs on.
Element low_product(Element a, Element b) {
  constexpr Element kEvery4th = 0x1111111111111111u;
  Element x[4], y[4], sum = 0;
  for (int k = 0; k < 4; ++k) {
    x[k] = a & (kEvery4th << k);
    y[k] = b & (kEvery4th << k);
  }
  for (int k = 0; k < 4; ++k) {
    Element z = 0;
    for (int i = 0; i < 4; ++i) z ^= x[i] * y[(k - i) & 3];
    sum |= z & (kEvery4th << k);
  }
  return sum;
}

Element reversed(Element a) {
  a = (a & 0x5555555555555555u) << 1 | (a >> 1 & 0x5555555555555555u);
  a = (a & 0x3333333333333333u) << 2 | (a >> 2 & 0x3333333333333333u);
  a = (a & 0x0f0f0f0f0f0f0f0fu) << 4 | (a >> 4 & 0x0f0f0f0f0f0f0f0fu);
  return __builtin_bswap64(a);
}

}  // namespace

Element multiply_portable(Element a, Element b) {
  const Element low = low_product(a, b);
  const Element high = reversed(low_product(reversed(a), reversed(b))) >> 1;
  // t^64 = t^4 + t^3 + t + 1; what this moves above t^63 once more is 4 bits.
  auto times_tail = [](Element v) { return v ^ v << 1 ^ v << 3 ^ v << 4; };
  const Element above = high >> 63 ^ high >> 61 ^ high >> 60;
  return low ^ times_tail(high) ^ times_tail(above);
}

Element inverse(Element a) {
  Element result = 1;
  for (int k = 1; k < 64; ++k) {
    a = multiply(a, a);
    result = multiply(result, a);
  }
  return result;
}

Element embed(std::uint8_t octet) {
  Element image = 0;
  for (int b = 0; b < 8; ++b) image ^= kEmbedColumns[b] & (0 - (Element{octet} >> b & 1));
  return image;
}

void LaneSums::clear() { std::memset(octet, 0, sizeof octet); }

const Kernels& kernels() {
  static const Kernels* const best = kernels_avx512() ? kernels_avx512() : &kernels_portable();
  return *best;
}

}  // namespace tkdc::gf64
