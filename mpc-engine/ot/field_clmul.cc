// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "ot/field.h"

namespace tkdc::ot {
namespace {

struct Sums {
  __m128i low = _mm_setzero_si128(), middle = low, high = low;
  void add(const Label& a, const Label& b) {
    const __m128i x = _mm_load_si128(reinterpret_cast<const __m128i*>(&a)),
                  y = _mm_load_si128(reinterpret_cast<const __m128i*>(&b));
    low = _mm_xor_si128(low, _mm_clmulepi64_si128(x, y, 0x00));
    high = _mm_xor_si128(high, _mm_clmulepi64_si128(x, y, 0x11));
    middle = _mm_xor_si128(
        middle, _mm_xor_si128(_mm_clmulepi64_si128(x, y, 0x01), _mm_clmulepi64_si128(x, y, 0x10)));
  }
  Label reduced() const {
    Label halves[2];
    _mm_store_si128(reinterpret_cast<__m128i*>(&halves[0]),
                    _mm_xor_si128(low, _mm_slli_si128(middle, 8)));
    _mm_store_si128(reinterpret_cast<__m128i*>(&halves[1]),
                    _mm_xor_si128(high, _mm_srli_si128(middle, 8)));
    return ot::reduced(halves[0], halves[1]);
  }
};

Label product(const Label& a, const Label& b) {
  Sums sums;
  sums.add(a, b);
  return sums.reduced();
}

Label dot(std::span<const Label> a, std::span<const Label> b) {
  Sums sums;
  for (std::size_t k = 0; k < a.size(); ++k) sums.add(a[k], b[k]);
  return sums.reduced();
}

constexpr Field kClmul = {product, dot};

}  // namespace

const Field* field_clmul() { return __builtin_cpu_supports("pclmul") ? &kClmul : nullptr; }

}  // namespace tkdc::ot
