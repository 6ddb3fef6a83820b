// SPDX-License-Identifier: Apache-2.0
// By AVX-512 with VAES, VPCLMULQDQ and GFNI: four blocks in a register.
#include <immintrin.h>

#include "base/cpu_features.h"
#include "ot/kernel.h"

namespace tkdc::ot {
namespace {

struct Zmm {
  using V = __m512i;
  static constexpr std::size_t kBlocks = 4, kWide = 4;
  static V zero() { return _mm512_setzero_si512(); }
  static V add(V a, V b) { return _mm512_xor_si512(a, b); }
  static V key(const Label& of) {
    return _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(&of)));
  }
  static V counter(std::uint64_t block) {
    return _mm512_add_epi64(_mm512_maskz_set1_epi64(0x55, static_cast<long long>(block)),
                            _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0));
  }
  static V round(V x, V key) { return _mm512_aesenc_epi128(x, key); }
  static V last_round(V x, V key) { return _mm512_aesenclast_epi128(x, key); }
  static void store(std::uint8_t* to, V x) { _mm512_storeu_si512(to, x); }
};
static_assert(Zmm::kBlocks * Zmm::kWide == kBlocksAtOnce);

#include "field/aes_round_keys.inl"
#include "ot/kernels/vector.inl"

void add_where(std::uint8_t* to, const std::uint8_t* what, std::size_t octets, std::uint64_t bit) {
  const __m512i mask = _mm512_set1_epi64(static_cast<long long>(0 - bit));
  for (std::size_t k = 0; k < octets; k += 64) {
    const __m512i add = _mm512_and_si512(_mm512_loadu_si512(what + k), mask);
    _mm512_storeu_si512(to + k, _mm512_xor_si512(_mm512_loadu_si512(to + k), add));
  }
}

Label sum_of_lanes(__m512i x) {
  const __m256i two = _mm256_xor_si256(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1));
  const __m128i one = _mm_xor_si128(_mm256_castsi256_si128(two), _mm256_extracti128_si256(two, 1));
  Label out;
  _mm_store_si128(reinterpret_cast<__m128i*>(&out), one);
  return out;
}

void fold(const Columns& columns, std::size_t count, std::span<const Label> factors, Label* out) {
  for (std::size_t c = 0; c < count; ++c) {
    const std::uint8_t* column = columns.data + c * columns.stride;
    __m512i low = Zmm::zero(), middle = low, high = low;
    for (std::size_t b = 0; b < factors.size(); b += Zmm::kBlocks) {
      const __m512i x = _mm512_loadu_si512(column + b * kBlockBytes),
                    f = _mm512_loadu_si512(&factors[b]);
      low = Zmm::add(low, _mm512_clmulepi64_epi128(x, f, 0x00));
      high = Zmm::add(high, _mm512_clmulepi64_epi128(x, f, 0x11));
      middle = _mm512_ternarylogic_epi64(middle, _mm512_clmulepi64_epi128(x, f, 0x01),
                                         _mm512_clmulepi64_epi128(x, f, 0x10), 0x96);
    }
    low = Zmm::add(low, _mm512_bslli_epi128(middle, 8));
    high = Zmm::add(high, _mm512_bsrli_epi128(middle, 8));
    out[c] = reduced(sum_of_lanes(low), sum_of_lanes(high));
  }
}

// Of eight columns, 512 rows: word t of lane l becomes the octets of rows 128 l + 8 t, …, + 7.
inline void transpose_bits(const Columns& columns, std::size_t first, std::size_t octet,
                           __m512i* out) {
  __m512i x[8], y[8];
  for (std::size_t k = 0; k < 8; ++k)
    x[k] = _mm512_loadu_si512(columns.data + (first + 7 - k) * columns.stride + octet);
  for (int k = 0; k < 4; ++k) {
    y[2 * k] = _mm512_unpacklo_epi8(x[k], x[k + 4]);
    y[2 * k + 1] = _mm512_unpackhi_epi8(x[k], x[k + 4]);
  }
  for (int k = 0; k < 4; ++k) {
    x[2 * k] = _mm512_unpacklo_epi8(y[k], y[k + 4]);
    x[2 * k + 1] = _mm512_unpackhi_epi8(y[k], y[k + 4]);
  }
  for (int k = 0; k < 4; ++k) {
    y[2 * k] = _mm512_unpacklo_epi8(x[k], x[k + 4]);
    y[2 * k + 1] = _mm512_unpackhi_epi8(x[k], x[k + 4]);
  }
  // The affine map by a square of 8 bits, of the unit vectors, is the square's transpose. It counts
  // the square's octets from the other end, so the columns were loaded that way.
  const __m512i units = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201));
  for (int k = 0; k < 8; ++k) out[k] = _mm512_gf2p8affine_epi64_epi8(units, y[k], 0);
}

// The octets of two words that are eight places apart, in turn.
inline void interleave(const __m512i (&in)[16], __m512i (&out)[16]) {
  for (int k = 0; k < 8; ++k) {
    out[2 * k] = _mm512_unpacklo_epi8(in[k], in[k + 8]);
    out[2 * k + 1] = _mm512_unpackhi_epi8(in[k], in[k + 8]);
  }
}

inline void transpose_octets(__m512i (&x)[16]) {
  __m512i y[16];
  for (int twice = 0; twice < 2; ++twice) {
    interleave(x, y);
    interleave(y, x);
  }
}

// Four blocks of rows at once.
void transpose(const Columns& columns, std::size_t blocks, Label* rows) {
  alignas(64) __m512i words[16][8];
  for (std::size_t block = 0; block < blocks; block += Zmm::kBlocks) {
    for (std::size_t group = 0; group < 16; ++group)
      transpose_bits(columns, 8 * group, block * kBlockBytes, words[group]);
    for (std::size_t pair = 0; pair < 8; ++pair) {
      __m512i x[16];
      for (std::size_t group = 0; group < 16; ++group) x[group] = words[group][pair];
      transpose_octets(x);
      Label* to = rows + block * kBlockRows + 16 * pair;
      for (std::size_t r = 0; r < 16; ++r) {
        const auto put = [&](std::size_t lane, __m128i row) {
          _mm_storeu_si128(reinterpret_cast<__m128i*>(to + lane * kBlockRows + r), row);
        };
        put(0, _mm512_castsi512_si128(x[r]));
        put(1, _mm512_extracti64x2_epi64(x[r], 1));
        put(2, _mm512_extracti64x2_epi64(x[r], 2));
        put(3, _mm512_extracti64x2_epi64(x[r], 3));
      }
    }
  }
  sodium_memzero(words, sizeof words);
}

constexpr Kernel kKernel = {"vaes512", expand_keys, expand_all<Zmm>, add_where, fold, transpose};

}  // namespace

const Kernel* kernel_vaes512() {
  const bool usable = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && cpu_has_aes() && cpu_has_vaes() &&
                      cpu_has_gfni() && cpu_has_vpclmulqdq();
  return usable ? &kKernel : nullptr;
}

}  // namespace tkdc::ot
