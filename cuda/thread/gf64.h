// SPDX-License-Identifier: Apache-2.0
// Products in GF(2^64) = GF(2)[t]/(t^64 + t^4 + t^3 + t + 1) (rep3/verify/gf64.h), in the registers
// of one thread, two ways: one product by multiplications of integers, and 32 bit-sliced.
//
// A table would need an index that depends on a share: there is none. All operands may be secret;
// GPUs multiply integers in the same time whatever they are.
#pragma once

#include "cuda/thread/host_device.h"

namespace tkdc::cuda {

using Element = std::uint64_t;

// Octets 4 k .. of an element.
TKDC_HD Word low_word(Element a) { return static_cast<Word>(a); }
TKDC_HD Word high_word(Element a) { return static_cast<Word>(a >> 32); }

// By name on GPUs: of the operands' masks the compiler makes two instructions otherwise.
TKDC_HD Element product_of_words(Word a, Word b) {
#if defined(__CUDA_ARCH__)
  Element product;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  return product;
#else
  return Element{a} * b;
#endif
}

// Polynomials of degree 31: with three zeros after each bit, sums of 8 bits stay below the next
// one.
TKDC_HD Element carryless(Word a, Word b) {
  constexpr Word kEvery4th = 0x11111111u;
  constexpr Element kEvery4thOf64 = 0x1111111111111111u;
  Word x[4], y[4];
  TKDC_UNROLL
  for (int k = 0; k < 4; ++k) {
    x[k] = a & kEvery4th << k;
    y[k] = b & kEvery4th << k;
  }
  Element product = 0;
  TKDC_UNROLL
  for (int k = 0; k < 4; ++k) {
    Element z = 0;
    TKDC_UNROLL
    for (int i = 0; i < 4; ++i) z ^= product_of_words(x[i], y[(k - i) & 3]);
    product |= z & kEvery4thOf64 << k;
  }
  return product;
}

// A sum of products that is not reduced yet.
struct Wide {
  Element low, high;
  TKDC_HD void add(Element a, Element b) {  // Karatsuba
    const Element first = carryless(low_word(a), low_word(b));
    const Element last = carryless(high_word(a), high_word(b));
    const Element middle =
        carryless(low_word(a) ^ high_word(a), low_word(b) ^ high_word(b)) ^ first ^ last;
    low ^= first ^ middle << 32;
    high ^= last ^ middle >> 32;
  }
  // t^64 = t^4 + t^3 + t + 1; what this moves above t^63 once more is 4 bits.
  TKDC_HD Element reduced() const {
    const Element above = high ^ high >> 63 ^ high >> 61 ^ high >> 60;
    return low ^ above ^ above << 1 ^ above << 3 ^ above << 4;
  }
};

TKDC_HD Element multiply(Element a, Element b) {
  Wide product = {0, 0};
  product.add(a, b);
  return product.reduced();
}

// ---- bit-sliced: word k holds bit k of 32 elements

// sum += piece of 31 planes, `first` planes up.
template <int kFirst>
TKDC_HD void add_piece(const Word (&piece)[31], Word (&sum)[127]) {
  TKDC_UNROLL
  for (int k = 0; k < 31; ++k) sum[kFirst + k] ^= piece[k];
}

// The product of two sums of 16 planes each, in Karatsuba's recursion from 64 planes down to 16:
// kOuter and kInner choose the low half (0), the high one (1) or their sum (2). Volatile: operands
// are read again for each, or there would not be registers enough.
template <int kOuter, int kInner>
TKDC_HD void add_product_of_pieces(const volatile Word* a, const volatile Word* b,
                                   Word (&sum)[127]) {
  Word x[16], y[16], piece[31];
  TKDC_UNROLL
  for (int k = 0; k < 16; ++k) {
    x[k] = y[k] = 0;
    TKDC_UNROLL
    for (int part = 0; part < 4; ++part) {
      if (kOuter != 2 && part / 2 != kOuter) continue;
      if (kInner != 2 && part % 2 != kInner) continue;
      x[k] ^= a[16 * part + k];
      y[k] ^= b[16 * part + k];
    }
  }
  TKDC_UNROLL
  for (int k = 0; k < 31; ++k) piece[k] = 0;
  TKDC_UNROLL
  for (int i = 0; i < 16; ++i) {
    TKDC_UNROLL
    for (int k = 0; k < 16; ++k) piece[i + k] ^= x[i] & y[k];
  }
  // low + (low + middle + high) t^n + high t^2n, for n = 32 and in it for n = 16.
  if constexpr (kOuter == 0 && kInner == 0) add_piece<0>(piece, sum);
  if constexpr (kOuter == 0) add_piece<16>(piece, sum);
  if constexpr (kOuter == 0 && kInner == 1) add_piece<32>(piece, sum);
  if constexpr (kInner == 0) add_piece<32>(piece, sum);
  add_piece<48>(piece, sum);
  if constexpr (kInner == 1) add_piece<64>(piece, sum);
  if constexpr (kOuter == 1 && kInner == 0) add_piece<64>(piece, sum);
  if constexpr (kOuter == 1) add_piece<80>(piece, sum);
  if constexpr (kOuter == 1 && kInner == 1) add_piece<96>(piece, sum);
}

TKDC_HD void multiply_planes(const volatile Word* a, const volatile Word* b, Word* out) {
  Word sum[127];
  TKDC_UNROLL
  for (int k = 0; k < 127; ++k) sum[k] = 0;
  add_product_of_pieces<0, 0>(a, b, sum);
  add_product_of_pieces<0, 1>(a, b, sum);
  add_product_of_pieces<0, 2>(a, b, sum);
  add_product_of_pieces<1, 0>(a, b, sum);
  add_product_of_pieces<1, 1>(a, b, sum);
  add_product_of_pieces<1, 2>(a, b, sum);
  add_product_of_pieces<2, 0>(a, b, sum);
  add_product_of_pieces<2, 1>(a, b, sum);
  add_product_of_pieces<2, 2>(a, b, sum);
  TKDC_UNROLL
  for (int k = 126; k >= 64; --k) {
    sum[k - 60] ^= sum[k];
    sum[k - 61] ^= sum[k];
    sum[k - 63] ^= sum[k];
    sum[k - 64] ^= sum[k];
  }
  TKDC_UNROLL
  for (int k = 0; k < 64; ++k) out[k] = sum[k];
}

}  // namespace tkdc::cuda
