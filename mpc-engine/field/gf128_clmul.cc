// SPDX-License-Identifier: Apache-2.0
// The product by carry-less multiplication (Gueron and Kounavis, "Intel Carry-Less
// Multiplication Instruction and its Usage for Computing the GCM Mode", algorithm 5).
// With its octets turned round an element stands in a register with the last
// coefficient on top; the product of two reversed polynomials is the reversed
// product, one bit too low.
#include <immintrin.h>

#include "field/gf128.h"

namespace tkdc {
namespace {

struct Wide {
  __m128i low, high;
};

inline Wide multiply(__m128i a, __m128i b) {
  const __m128i middle =
      _mm_xor_si128(_mm_clmulepi64_si128(a, b, 0x01), _mm_clmulepi64_si128(a, b, 0x10));
  return {_mm_xor_si128(_mm_clmulepi64_si128(a, b, 0x00), _mm_slli_si128(middle, 8)),
          _mm_xor_si128(_mm_clmulepi64_si128(a, b, 0x11), _mm_srli_si128(middle, 8))};
}

// One bit up, over all 256.
inline Wide shift_up(Wide w) {
  const __m128i carry_low = _mm_srli_epi32(w.low, 31), carry_high = _mm_srli_epi32(w.high, 31);
  const __m128i across = _mm_srli_si128(carry_low, 12);
  return {
      _mm_or_si128(_mm_slli_epi32(w.low, 1), _mm_slli_si128(carry_low, 4)),
      _mm_or_si128(_mm_or_si128(_mm_slli_epi32(w.high, 1), _mm_slli_si128(carry_high, 4)), across)};
}

// Modulo x^128 + x^7 + x^2 + x + 1, reversed.
inline __m128i reduce(Wide w) {
  const __m128i folded =
      _mm_xor_si128(_mm_xor_si128(_mm_slli_epi32(w.low, 31), _mm_slli_epi32(w.low, 30)),
                    _mm_slli_epi32(w.low, 25));
  const __m128i low = _mm_xor_si128(w.low, _mm_slli_si128(folded, 12));
  const __m128i shifted =
      _mm_xor_si128(_mm_xor_si128(_mm_srli_epi32(low, 1), _mm_srli_epi32(low, 2)),
                    _mm_xor_si128(_mm_srli_epi32(low, 7), _mm_srli_si128(folded, 4)));
  return _mm_xor_si128(w.high, _mm_xor_si128(low, shifted));
}

inline __m128i load(const std::uint8_t* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}

inline __m128i turned(__m128i v) {
  return _mm_shuffle_epi8(v, _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
}

inline void add_product(std::uint8_t* out, Wide product) {
  const __m128i reduced = turned(reduce(shift_up(product)));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_xor_si128(load(out), reduced));
}

void multiply_add(std::uint8_t* out, const std::uint8_t* a, const std::uint8_t* b) {
  add_product(out, multiply(turned(load(a)), turned(load(b))));
}

// Products are added before they are reduced, which is linear: once for the whole sum.
void dot_add(std::uint8_t* out, std::size_t n, const std::uint8_t* a, const std::uint8_t* b) {
  __m128i low = _mm_setzero_si128(), high = low, middle = low;
  for (std::size_t k = 0; k < n; ++k, a += kGf128Bytes, b += kGf128Bytes) {
    const __m128i x = turned(load(a)), y = turned(load(b));
    low = _mm_xor_si128(low, _mm_clmulepi64_si128(x, y, 0x00));
    high = _mm_xor_si128(high, _mm_clmulepi64_si128(x, y, 0x11));
    middle = _mm_xor_si128(
        middle, _mm_xor_si128(_mm_clmulepi64_si128(x, y, 0x01), _mm_clmulepi64_si128(x, y, 0x10)));
  }
  add_product(out, {_mm_xor_si128(low, _mm_slli_si128(middle, 8)),
                    _mm_xor_si128(high, _mm_srli_si128(middle, 8))});
}

bool usable() { return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("ssse3"); }

}  // namespace

Gf128MultiplyAdd gf128_multiply_add_clmul() { return usable() ? multiply_add : nullptr; }

Gf128DotAdd gf128_dot_add_clmul() { return usable() ? dot_add : nullptr; }

}  // namespace tkdc
