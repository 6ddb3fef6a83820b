// SPDX-License-Identifier: Apache-2.0
// By AES-NI and PCLMULQDQ: one block in a register.
#include <immintrin.h>

#include <cstring>

#include "base/cpu_features.h"
#include "ot/kernel.h"

namespace tkdc::ot {
namespace {

struct Xmm {
  using V = __m128i;
  static constexpr std::size_t kBlocks = 1, kWide = 2;
  static V zero() { return _mm_setzero_si128(); }
  static V add(V a, V b) { return _mm_xor_si128(a, b); }
  static V key(const Label& of) { return _mm_load_si128(reinterpret_cast<const V*>(&of)); }
  static V counter(std::uint64_t block) { return _mm_set_epi64x(0, static_cast<long long>(block)); }
  static V round(V x, V key) { return _mm_aesenc_si128(x, key); }
  static V last_round(V x, V key) { return _mm_aesenclast_si128(x, key); }
  static void store(std::uint8_t* to, V x) { _mm_storeu_si128(reinterpret_cast<V*>(to), x); }
};

#include "field/aes_round_keys.inl"
#include "ot/kernels/vector.inl"

void add_where(std::uint8_t* to, const std::uint8_t* what, std::size_t octets, std::uint64_t bit) {
  const __m128i mask = _mm_set1_epi64x(static_cast<long long>(0 - bit));
  for (std::size_t k = 0; k < octets; k += 16) {
    auto* at = reinterpret_cast<__m128i*>(to + k);
    const __m128i add = _mm_loadu_si128(reinterpret_cast<const __m128i*>(what + k));
    _mm_storeu_si128(at, _mm_xor_si128(_mm_loadu_si128(at), _mm_and_si128(add, mask)));
  }
}

Label label_of(__m128i x) {
  Label out;
  _mm_store_si128(reinterpret_cast<__m128i*>(&out), x);
  return out;
}

void fold(const Columns& columns, std::size_t count, std::span<const Label> factors, Label* out) {
  for (std::size_t c = 0; c < count; ++c) {
    const auto* column = reinterpret_cast<const __m128i*>(columns.data + c * columns.stride);
    __m128i low = Xmm::zero(), middle = low, high = low;
    for (std::size_t b = 0; b < factors.size(); ++b) {
      const __m128i x = _mm_loadu_si128(column + b), f = Xmm::key(factors[b]);
      low = Xmm::add(low, _mm_clmulepi64_si128(x, f, 0x00));
      high = Xmm::add(high, _mm_clmulepi64_si128(x, f, 0x11));
      middle = Xmm::add(middle, _mm_clmulepi64_si128(x, f, 0x01));
      middle = Xmm::add(middle, _mm_clmulepi64_si128(x, f, 0x10));
    }
    low = Xmm::add(low, _mm_slli_si128(middle, 8));
    high = Xmm::add(high, _mm_srli_si128(middle, 8));
    out[c] = reduced(label_of(low), label_of(high));
  }
}

// The octets of two words that are eight places apart, in turn.
inline void interleave(const __m128i (&in)[16], __m128i (&out)[16]) {
  for (int k = 0; k < 8; ++k) {
    out[2 * k] = _mm_unpacklo_epi8(in[k], in[k + 8]);
    out[2 * k + 1] = _mm_unpackhi_epi8(in[k], in[k + 8]);
  }
}

// 16 columns' octets t, as column t of a square of 16 octets.
inline void transpose_octets(__m128i (&x)[16]) {
  __m128i y[16];
  for (int twice = 0; twice < 2; ++twice) {
    interleave(x, y);
    interleave(y, x);
  }
}

void transpose(const Columns& columns, std::size_t blocks, Label* rows) {
  for (std::size_t block = 0; block < blocks; ++block)
    for (std::size_t group = 0; group < kColumns / 16; ++group) {
      __m128i x[16];
      for (std::size_t k = 0; k < 16; ++k)
        x[k] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(
            columns.data + (16 * group + k) * columns.stride + block * kBlockBytes));
      transpose_octets(x);
      for (std::size_t t = 0; t < 16; ++t)
        for (std::size_t bit = 8; bit-- > 0; x[t] = _mm_slli_epi64(x[t], 1)) {
          const auto two = static_cast<std::uint16_t>(_mm_movemask_epi8(x[t]));
          auto* row = reinterpret_cast<std::uint8_t*>(rows + block * kBlockRows + 8 * t + bit);
          std::memcpy(row + 2 * group, &two, sizeof two);
        }
    }
}

constexpr Kernel kKernel = {"aesni", expand_keys, expand_all<Xmm>, add_where, fold, transpose};

}  // namespace

const Kernel* kernel_aesni() {
  return cpu_has_aes() && __builtin_cpu_supports("pclmul") ? &kKernel : nullptr;
}

}  // namespace tkdc::ot
