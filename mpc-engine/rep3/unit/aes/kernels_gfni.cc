// SPDX-License-Identifier: Apache-2.0
// The kernels for CPUs with AVX-512 and GFNI: 64 S-boxes in a register, one
// instruction for 64 field products or linear maps. See kernels.h.
#include <immintrin.h>

#include "rep3/unit/aes/kernels.h"
#include "sbox_constants.h"

namespace tkdc {
namespace {

using Octets = const std::uint8_t*;

struct Word {
  __m512i v;
  Word splat(std::uint32_t octet) const { return {_mm512_set1_epi8(static_cast<char>(octet))}; }
};
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

// `out` octets of the terms of twice as many: those of the later half `shift` bits up.
template <Word (*terms)(Word, Word), int shift>
inline void fold_halves(std::size_t out, Octets x0, Octets x1, std::uint8_t* to) {
  for (std::size_t j = 0; j < out; j += 64) {
    Window w(out - j);
    Word low = terms(w.load(x0 + j), w.load(x1 + j));
    Word high = terms(w.load(x0 + out + j), w.load(x1 + out + j));
    w.store(to + j, low | high << shift);
  }
}

void norm(std::size_t n, Octets a0, Octets a1, std::uint8_t* d) {
  fold_halves<norm_terms, 4>(n / 2, a0, a1, d);
}

// q = d d^4 of the nibbles that the two matrices pick.
inline Word pair_terms(Word x, Word y, std::uint64_t embed, std::uint64_t fourth) {
  const Word fourth_x = apply(fourth, x), fourth_y = apply(fourth, y);
  return apply(sbox::kProjectPair,
               mul(apply(embed, x), fourth_x ^ fourth_y) ^ mul(apply(embed, y), fourth_x));
}
inline Word pair_terms(Word x, Word y) {
  return pair_terms(x, y, sbox::kEmbed, sbox::kFourth) |
         pair_terms(x, y, sbox::kEmbedHigh, sbox::kFourthHigh) << 4;
}

void pair(std::size_t n, Octets d0, Octets d1, std::uint8_t* q) {
  fold_halves<pair_terms, 2>(n / 4, d0, d1, q);
}

// e = d^4 q^2, the same.
inline Word invert_terms(Word x, Word y, Word qx, Word qy, std::uint64_t fourth,
                         std::uint64_t square) {
  const Word square_x = apply(square, qx), square_y = apply(square, qy);
  return apply(sbox::kProject,
               mul(apply(fourth, x), square_x ^ square_y) ^ mul(apply(fourth, y), square_x));
}
inline Word invert_terms(Word x, Word y, Word qx, Word qy) {
  return invert_terms(x, y, qx, qy, sbox::kFourth, sbox::kPairSquare) |
         invert_terms(x, y, qx, qy, sbox::kFourthHigh, sbox::kPairSquareHigh) << 4;
}

void invert(std::size_t n, Octets d0, Octets d1, Octets q0, Octets q1, std::uint8_t* e) {
  const std::size_t quarter = n / 4;
  for (std::size_t j = 0; j < quarter; j += 64) {
    Window w(quarter - j);
    Word p0 = w.load(q0 + j), p1 = w.load(q1 + j);
    w.store(e + j, invert_terms(w.load(d0 + j), w.load(d1 + j), p0, p1));
    w.store(e + quarter + j,
            invert_terms(w.load(d0 + quarter + j), w.load(d1 + quarter + j), p0 >> 2, p1 >> 2));
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
            product_terms(w.load(a0 + half + j), w.load(a1 + half + j), apply(sbox::kEmbedHigh, f0),
                          apply(sbox::kEmbedHigh, f1)));
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
inline Word times(Word a, std::uint8_t factor) { return mul(a, a.splat(factor)); }
inline Word mix(Word a) {
  Word next = rotate_columns(a, 1);
  return times(a ^ next, 2) ^ next ^ rotate_columns(a, 2) ^ rotate_columns(a, 3);
}

// The round keys of four blocks after four. Which run a block belongs to is public.
class KeyWords {
 public:
  explicit KeyWords(AesRoundKey key) : key_(key), left_(key.runs->blocks) {}
  // The keys of the next `blocks`, 1 to 4.
  Word next(std::size_t blocks) {
    if (left_ == 0) left_ = (++key_.runs)->blocks;
    if (left_ >= blocks) {
      left_ -= blocks;
      return {_mm512_broadcast_i32x4(load())};
    }
    __m512i keys = _mm512_castsi128_si512(take());
    if (blocks > 1) keys = _mm512_inserti32x4(keys, take(), 1);
    if (blocks > 2) keys = _mm512_inserti32x4(keys, take(), 2);
    if (blocks > 3) keys = _mm512_inserti32x4(keys, take(), 3);
    return {keys};
  }

 private:
  __m128i load() const {
    return _mm_loadu_si128(
        reinterpret_cast<const __m128i*>(key_.runs->round_keys[key_.c] + 16 * key_.round));
  }
  __m128i take() {
    if (left_ == 0) left_ = (++key_.runs)->blocks;
    --left_;
    return load();
  }
  AesRoundKey key_;
  std::size_t left_;
};

template <bool kLast>
void sub_shift_mix_rounds(std::size_t blocks, Octets in, std::uint8_t constant, AesRoundKey key,
                          std::uint8_t* out) {
  KeyWords keys(key);
  for (std::size_t b = 0; b < blocks; b += 4) {
    Window w(16 * (blocks - b));
    Word s = apply(sbox::kAffine, w.load(in + 16 * b));
    s = shuffle(s ^ s.splat(constant), shift_rows_index());
    if (!kLast) s = mix(s);
    w.store(out + 16 * b, s ^ keys.next(blocks - b < 4 ? blocks - b : 4));
  }
}

void sub_shift_mix(std::size_t blocks, Octets in, std::uint8_t constant, bool last, AesRoundKey key,
                   std::uint8_t* out) {
  return last ? sub_shift_mix_rounds<true>(blocks, in, constant, key, out)
              : sub_shift_mix_rounds<false>(blocks, in, constant, key, out);
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

void add_round_key(std::size_t blocks, AesRoundKey key, std::uint8_t* state) {
  KeyWords keys(key);
  for (std::size_t b = 0; b < blocks; b += 4) {
    Window w(16 * (blocks - b));
    Word a = w.load(state + 16 * b);
    w.store(state + 16 * b, a ^ keys.next(blocks - b < 4 ? blocks - b : 4));
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
    .add_round_key = add_round_key,
    .affine = affine,
};

}  // namespace

const AesByteKernels* aes_byte_kernels_gfni() {
  bool usable = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("gfni");
  return usable ? &kKernels : nullptr;
}

}  // namespace tkdc
