// SPDX-License-Identifier: Apache-2.0
// Bit-sliced AES in 256-bit words.
#include <immintrin.h>

#include "rep3/unit/aes/plane_cohort.inl"

namespace tkdc {
namespace {

struct Word256 {
  __m256i v = _mm256_setzero_si256();
  static Word256 load(const std::uint8_t* p) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))};
  }
  void store(std::uint8_t* p) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
  friend Word256 operator&(Word256 a, Word256 b) { return {_mm256_and_si256(a.v, b.v)}; }
  friend Word256 operator^(Word256 a, Word256 b) { return {_mm256_xor_si256(a.v, b.v)}; }
};

}  // namespace

const Rep3Backend* rep3_backend_avx2() {
  static const PlaneBackend<Word256> backend("avx2");
  return __builtin_cpu_supports("avx2") ? &backend : nullptr;
}

}  // namespace tkdc
