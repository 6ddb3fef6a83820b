// SPDX-License-Identifier: Apache-2.0
// Zero-shares by ChaCha20 on CPUs with AVX-512: sixteen blocks side by side, one in each 32-bit
// lane, word k of all of them in register k (RFC 8439, section 2.3); both components' streams are
// added before the words are put in their places.
#include <immintrin.h>

#include <cassert>

#include "rep3/chacha20.h"

namespace tkdc {
namespace {

constexpr std::size_t kBatchBytes = 16 * 64;
constexpr std::uint32_t kSigma[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};

inline void quarter_round(__m512i& a, __m512i& b, __m512i& c, __m512i& d) {
  a = _mm512_add_epi32(a, b);
  d = _mm512_rol_epi32(_mm512_xor_si512(d, a), 16);
  c = _mm512_add_epi32(c, d);
  b = _mm512_rol_epi32(_mm512_xor_si512(b, c), 12);
  a = _mm512_add_epi32(a, b);
  d = _mm512_rol_epi32(_mm512_xor_si512(d, a), 8);
  c = _mm512_add_epi32(c, d);
  b = _mm512_rol_epi32(_mm512_xor_si512(b, c), 7);
}

// The blocks of sixteen counters under `key`; the nonce is 0.
inline void blocks(const std::uint8_t* key, __m512i counters, __m512i (&v)[16]) {
  auto word = [&](int k) {
    std::uint32_t w;
    __builtin_memcpy(&w, key + 4 * k, 4);
    return _mm512_set1_epi32(static_cast<int>(w));
  };
  for (int k = 0; k < 4; ++k) v[k] = _mm512_set1_epi32(static_cast<int>(kSigma[k]));
  for (int k = 0; k < 8; ++k) v[4 + k] = word(k);
  v[12] = counters;
  for (int k = 13; k < 16; ++k) v[k] = _mm512_setzero_si512();
  for (int round = 0; round < 10; ++round) {
    for (int k = 0; k < 4; ++k) quarter_round(v[k], v[4 + k], v[8 + k], v[12 + k]);
    for (int k = 0; k < 4; ++k)
      quarter_round(v[k], v[4 + (k + 1) % 4], v[8 + (k + 2) % 4], v[12 + (k + 3) % 4]);
  }
  for (int k = 0; k < 4; ++k)
    v[k] = _mm512_add_epi32(v[k], _mm512_set1_epi32(static_cast<int>(kSigma[k])));
  for (int k = 0; k < 8; ++k) v[4 + k] = _mm512_add_epi32(v[4 + k], word(k));
  v[12] = _mm512_add_epi32(v[12], counters);
}

// Word k of block n, lane n of v[k], goes to lane k of v[n]: a transposition, which swaps the
// halves of ever larger squares.
inline void transpose(__m512i (&v)[16]) {
  __m512i t[16];
  for (int k = 0; k < 16; k += 2) {
    t[k] = _mm512_unpacklo_epi32(v[k], v[k + 1]);
    t[k + 1] = _mm512_unpackhi_epi32(v[k], v[k + 1]);
  }
  for (int k = 0; k < 16; k += 4) {
    v[k] = _mm512_unpacklo_epi64(t[k], t[k + 2]);
    v[k + 1] = _mm512_unpackhi_epi64(t[k], t[k + 2]);
    v[k + 2] = _mm512_unpacklo_epi64(t[k + 1], t[k + 3]);
    v[k + 3] = _mm512_unpackhi_epi64(t[k + 1], t[k + 3]);
  }
  // Now v[4 q + r] has words 4 q to 4 q + 3 of the blocks r, 4 + r, 8 + r and 12 + r.
  for (int r = 0; r < 4; ++r) {
    const __m512i a = _mm512_shuffle_i32x4(v[r], v[4 + r], 0x88);
    const __m512i b = _mm512_shuffle_i32x4(v[r], v[4 + r], 0xdd);
    const __m512i c = _mm512_shuffle_i32x4(v[8 + r], v[12 + r], 0x88);
    const __m512i d = _mm512_shuffle_i32x4(v[8 + r], v[12 + r], 0xdd);
    t[r] = _mm512_shuffle_i32x4(a, c, 0x88);
    t[8 + r] = _mm512_shuffle_i32x4(a, c, 0xdd);
    t[4 + r] = _mm512_shuffle_i32x4(b, d, 0x88);
    t[12 + r] = _mm512_shuffle_i32x4(b, d, 0xdd);
  }
  for (int k = 0; k < 16; ++k) v[k] = t[k];
}

void generate(const std::uint8_t* a, const std::uint8_t* b, std::uint32_t counter,
              std::uint8_t* out, std::size_t bytes) {
  const __m512i step = _mm512_set1_epi32(16);
  __m512i counters =
      _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(counter)),
                       _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
  assert(bytes % kBatchBytes == 0);
  for (; bytes >= kBatchBytes; bytes -= kBatchBytes, out += kBatchBytes) {
    __m512i x[16], y[16];
    blocks(a, counters, x);
    blocks(b, counters, y);
    for (int k = 0; k < 16; ++k) x[k] = _mm512_xor_si512(x[k], y[k]);
    transpose(x);
    for (int k = 0; k < 16; ++k) _mm512_storeu_si512(out + 64 * k, x[k]);
    counters = _mm512_add_epi32(counters, step);
  }
}

}  // namespace

AddedChaCha20 added_chacha20_avx512() {
  return __builtin_cpu_supports("avx512f") ? generate : nullptr;
}

}  // namespace tkdc
