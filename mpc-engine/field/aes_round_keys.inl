// SPDX-License-Identifier: Apache-2.0
// AES-128's key expansion (FIPS 197, section 5.2) by the instruction for it. Each file for CPUs
// that have it includes this in its unnamed namespace, behind <immintrin.h>: inlined code of one
// file has instructions that another file's CPU may lack. The same octets: aes_round_keys.h.

template <int kRcon>
inline __m128i next_aes_key(__m128i key) {
  const __m128i word = _mm_shuffle_epi32(_mm_aeskeygenassist_si128(key, kRcon), 0xff);
  key = _mm_xor_si128(key, _mm_slli_si128(key, 4));
  key = _mm_xor_si128(key, _mm_slli_si128(key, 8));
  return _mm_xor_si128(key, word);
}

// 16 octets to 11 times as many, on any border.
inline void expand_aes_key(const void* key, void* round_keys) {
  auto* out = static_cast<__m128i*>(round_keys);
  __m128i k = _mm_loadu_si128(static_cast<const __m128i*>(key));
  _mm_storeu_si128(out++, k);
  _mm_storeu_si128(out++, k = next_aes_key<0x01>(k));
  _mm_storeu_si128(out++, k = next_aes_key<0x02>(k));
  _mm_storeu_si128(out++, k = next_aes_key<0x04>(k));
  _mm_storeu_si128(out++, k = next_aes_key<0x08>(k));
  _mm_storeu_si128(out++, k = next_aes_key<0x10>(k));
  _mm_storeu_si128(out++, k = next_aes_key<0x20>(k));
  _mm_storeu_si128(out++, k = next_aes_key<0x40>(k));
  _mm_storeu_si128(out++, k = next_aes_key<0x80>(k));
  _mm_storeu_si128(out++, k = next_aes_key<0x1b>(k));
  _mm_storeu_si128(out, next_aes_key<0x36>(k));
}
