// SPDX-License-Identifier: Apache-2.0
// The kernels for CPUs with AVX-512 and GFNI: 64 S-boxes in a register, one
// instruction for 64 field products or linear maps. See kernels.h.
#include <immintrin.h>

#include "cipher/aes/kernels.h"
#include "cipher/aes/nibble_layers.h"
#include "sbox_constants.h"

namespace tkdc {
namespace {

using Octets = const std::uint8_t*;

struct Word {
  __m512i v;
  Word splat(std::uint32_t octet) const { return {_mm512_set1_epi8(static_cast<char>(octet))}; }
};
inline Word operator&(Word a, Word b) { return {_mm512_and_si512(a.v, b.v)}; }
inline Word operator^(Word a, Word b) { return {_mm512_xor_si512(a.v, b.v)}; }
inline Word operator|(Word a, Word b) { return {_mm512_or_si512(a.v, b.v)}; }
inline Word operator<<(Word a, int k) { return {_mm512_slli_epi32(a.v, static_cast<unsigned>(k))}; }
inline Word operator>>(Word a, int k) { return {_mm512_srli_epi32(a.v, static_cast<unsigned>(k))}; }

// The octets [j, n) of p, at most 64; the rest of the register is 0.
struct Window {
  __mmask64 mask;
  explicit Window(std::size_t left)
      : mask(left >= 64 ? ~__mmask64{0} : (__mmask64{1} << left) - 1) {}
  Word load(Octets p) const { return {_mm512_maskz_loadu_epi8(mask, p)}; }
  void store(std::uint8_t* p, Word w) const { _mm512_mask_storeu_epi8(p, mask, w.v); }
};

inline Word mul(Word a, Word b) { return {_mm512_gf2p8mul_epi8(a.v, b.v)}; }
inline Word apply(std::uint64_t matrix, Word a) {
  return {_mm512_gf2p8affine_epi64_epi8(a.v, _mm512_set1_epi64(static_cast<long long>(matrix)), 0)};
}

inline Word norm_terms(Word x, Word y) {
  Word conj_x = apply(sbox::kConjugate, x), conj_y = apply(sbox::kConjugate, y);
  return apply(sbox::kProject, mul(x, conj_x ^ conj_y) ^ mul(y, conj_x));
}

void norm(std::size_t n, Octets a0, Octets a1, std::uint8_t* d) {
  const std::size_t half = n / 2;
  for (std::size_t j = 0; j < half; j += 64) {
    Window w(half - j);
    Word low = norm_terms(w.load(a0 + j), w.load(a1 + j));
    Word high = norm_terms(w.load(a0 + half + j), w.load(a1 + half + j));
    w.store(d + j, low | high << 4);
  }
}

void pair(std::size_t n, Octets d0, Octets d1, std::uint8_t* q) {
  const std::size_t quarter = n / 4;
  for (std::size_t j = 0; j < quarter; j += 64) {
    Window w(quarter - j);
    Word low = nibble::pair_terms(w.load(d0 + j), w.load(d1 + j));
    Word high = nibble::pair_terms(w.load(d0 + quarter + j), w.load(d1 + quarter + j));
    w.store(q + j, low | high << 2);
  }
}

void invert(std::size_t n, Octets d0, Octets d1, Octets q0, Octets q1, std::uint8_t* e) {
  const std::size_t quarter = n / 4;
  for (std::size_t j = 0; j < quarter; j += 64) {
    Window w(quarter - j);
    Word p0 = w.load(q0 + j), p1 = w.load(q1 + j);
    w.store(e + j, nibble::invert_terms(w.load(d0 + j), w.load(d1 + j), p0, p1));
    w.store(e + quarter + j, nibble::invert_terms(w.load(d0 + quarter + j),
                                                  w.load(d1 + quarter + j), p0 >> 2, p1 >> 2));
  }
}

inline Word product_terms(Word a0, Word a1, Word e0, Word e1) {
  Word u0 = apply(sbox::kConjugate, a0), u1 = apply(sbox::kConjugate, a1);
  return mul(u0, e0 ^ e1) ^ mul(u1, e0);
}

void product(std::size_t n, Octets a0, Octets a1, Octets e0, Octets e1, std::uint8_t* out) {
  const std::size_t half = n / 2;
  for (std::size_t j = 0; j < half; j += 64) {
    Window w(half - j);
    Word f0 = w.load(e0 + j), f1 = w.load(e1 + j);
    w.store(out + j, product_terms(w.load(a0 + j), w.load(a1 + j), apply(sbox::kEmbed, f0),
                                   apply(sbox::kEmbed, f1)));
    w.store(out + half + j,
            product_terms(w.load(a0 + half + j), w.load(a1 + half + j),
                          apply(sbox::kEmbedHigh, f0), apply(sbox::kEmbedHigh, f1)));
  }
}

inline Word shuffle(Word a, __m128i lanes) {
  return {_mm512_shuffle_epi8(a.v, _mm512_broadcast_i32x4(lanes))};
}

// Octet k of the result is octet index[k] of each 16-octet block.
inline __m128i shift_rows_index() {
  return _mm_setr_epi8(0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11);
}
inline __m128i inv_shift_rows_index() {
  return _mm_setr_epi8(0, 13, 10, 7, 4, 1, 14, 11, 8, 5, 2, 15, 12, 9, 6, 3);
}
inline Word rotate_columns(Word a, int octets) {
  return {octets == 1   ? _mm512_ror_epi32(a.v, 8)
          : octets == 2 ? _mm512_ror_epi32(a.v, 16)
                        : _mm512_ror_epi32(a.v, 24)};
}
inline Word times(Word a, std::uint8_t factor) {
  return mul(a, a.splat(factor));
}
inline Word mix(Word a) {
  Word next = rotate_columns(a, 1);
  return times(a ^ next, 2) ^ next ^ rotate_columns(a, 2) ^ rotate_columns(a, 3);
}

void sub_shift_mix(std::size_t blocks, Octets in, std::uint8_t constant, bool last,
                   std::uint8_t* out) {
  for (std::size_t j = 0; j < 16 * blocks; j += 64) {
    Window w(16 * blocks - j);
    Word s = apply(sbox::kAffine, w.load(in + j));
    s = shuffle(s ^ s.splat(constant), shift_rows_index());
    w.store(out + j, last ? s : mix(s));
  }
}

void inv_shift_sub(std::size_t blocks, Octets in, std::uint8_t constant, std::uint8_t* out) {
  for (std::size_t j = 0; j < 16 * blocks; j += 64) {
    Window w(16 * blocks - j);
    Word s = shuffle(w.load(in + j), inv_shift_rows_index());
    w.store(out + j, apply(sbox::kAffineInverse, s ^ s.splat(constant)));
  }
}

void inv_mix(std::size_t blocks, std::uint8_t* state) {
  for (std::size_t j = 0; j < 16 * blocks; j += 64) {
    Window w(16 * blocks - j);
    Word a = w.load(state + j);
    w.store(state + j, mix(a ^ times(a ^ rotate_columns(a, 2), 4)));
  }
}

void affine(std::size_t n, std::uint8_t* octets, std::uint8_t constant) {
  for (std::size_t j = 0; j < n; j += 64) {
    Window w(n - j);
    Word s = apply(sbox::kAffine, w.load(octets + j));
    w.store(octets + j, s ^ s.splat(constant));
  }
}

constexpr AesByteKernels kKernels = {
    .name = "gfni",
    .norm = norm,
    .pair = pair,
    .invert = invert,
    .product = product,
    .sub_shift_mix = sub_shift_mix,
    .inv_shift_sub = inv_shift_sub,
    .inv_mix = inv_mix,
    .affine = affine,
};

}  // namespace

const AesByteKernels* aes_byte_kernels_gfni() {
  bool usable = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("gfni");
  return usable ? &kKernels : nullptr;
}

}  // namespace tkdc
