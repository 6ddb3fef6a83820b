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

void multiply_add(std::uint8_t* out, const std::uint8_t* a, const std::uint8_t* b) {
  const __m128i turn = _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  auto load = [](const std::uint8_t* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  };
  const Wide product = multiply(_mm_shuffle_epi8(load(a), turn), _mm_shuffle_epi8(load(b), turn));
  const __m128i reduced = _mm_shuffle_epi8(reduce(shift_up(product)), turn);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_xor_si128(load(out), reduced));
}

}  // namespace

Gf128MultiplyAdd gf128_multiply_add_clmul() {
  const bool usable = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("ssse3");
  return usable ? multiply_add : nullptr;
}

}  // namespace tkdc
