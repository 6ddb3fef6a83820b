// SPDX-License-Identifier: Apache-2.0
// The reference kernels: portable, eight octets in a 64-bit word. Every other
// implementation is tested against this one. See kernels.h.
#include <cstring>

#include "field/octet_words.h"
#include "rep3/unit/aes/kernels.h"
#include "rep3/unit/aes/nibble_layers.h"
#include "sbox_constants.h"

namespace tkdc {
namespace {

using namespace octet_words;

Word norm_terms(Word x, Word y) {
  Word conj_x = apply(sbox::kConjugateColumns, x);
  Word conj_y = apply(sbox::kConjugateColumns, y);
  return apply(sbox::kProjectColumns, multiply(x, conj_x ^ conj_y) ^ multiply(y, conj_x));
}

void norm(std::size_t n, const std::uint8_t* a0, const std::uint8_t* a1, std::uint8_t* d) {
  for (std::size_t j = 0; j < n / 2; j += 8)
    store(d + j, norm_terms(load(a0 + j), load(a1 + j)) |
                     norm_terms(load(a0 + n / 2 + j), load(a1 + n / 2 + j)) << 4);
}

// Octets in fours: n/4 octets of output for n S-boxes, n a multiple of 16.
using Half = std::uint32_t;
Half load_half(const std::uint8_t* p) {
  Half w;
  std::memcpy(&w, p, sizeof w);
  return w;
}

void pair(std::size_t n, const std::uint8_t* d0, const std::uint8_t* d1, std::uint8_t* q) {
  for (std::size_t j = 0; j < n / 4; j += 4) {
    Half low = nibble::pair_terms(load_half(d0 + j), load_half(d1 + j));
    Half high = nibble::pair_terms(load_half(d0 + n / 4 + j), load_half(d1 + n / 4 + j));
    Half packed = low | high << 2;
    std::memcpy(q + j, &packed, sizeof packed);
  }
}

void invert(std::size_t n, const std::uint8_t* d0, const std::uint8_t* d1, const std::uint8_t* q0,
            const std::uint8_t* q1, std::uint8_t* e) {
  for (std::size_t j = 0; j < n / 4; j += 4) {
    Half p0 = load_half(q0 + j), p1 = load_half(q1 + j);
    Half low = nibble::invert_terms(load_half(d0 + j), load_half(d1 + j), p0, p1);
    Half high = nibble::invert_terms(load_half(d0 + n / 4 + j), load_half(d1 + n / 4 + j), p0 >> 2,
                                     p1 >> 2);
    std::memcpy(e + j, &low, sizeof low);
    std::memcpy(e + n / 4 + j, &high, sizeof high);
  }
}

Word product_terms(Word a0, Word a1, Word e0, Word e1) {
  Word u0 = apply(sbox::kConjugateColumns, a0), u1 = apply(sbox::kConjugateColumns, a1);
  return multiply(u0, e0 ^ e1) ^ multiply(u1, e0);
}

void product(std::size_t n, const std::uint8_t* a0, const std::uint8_t* a1, const std::uint8_t* e0,
             const std::uint8_t* e1, std::uint8_t* out) {
  for (std::size_t j = 0; j < n / 2; j += 8) {
    Word low0 = load(e0 + j), low1 = load(e1 + j);
    store(out + j, product_terms(load(a0 + j), load(a1 + j), apply(sbox::kEmbedColumns, low0),
                                 apply(sbox::kEmbedColumns, low1)));
    store(out + n / 2 + j, product_terms(load(a0 + n / 2 + j), load(a1 + n / 2 + j),
                                         apply(sbox::kEmbedHighColumns, low0),
                                         apply(sbox::kEmbedHighColumns, low1)));
  }
}

// Octet r + 4c of the state comes from octet r + 4((c + r) mod 4): FIPS 197, 5.1.2.
void shift_rows(const std::uint8_t* in, std::uint8_t* out) {
  for (int c = 0; c < 4; ++c)
    for (int r = 0; r < 4; ++r) out[r + 4 * c] = in[r + 4 * ((c + r) % 4)];
}

void inv_shift_rows(const std::uint8_t* in, std::uint8_t* out) {
  for (int c = 0; c < 4; ++c)
    for (int r = 0; r < 4; ++r) out[r + 4 * ((c + r) % 4)] = in[r + 4 * c];
}

Word rotate_columns(Word w, int octets) {
  constexpr Word kByte0 = 0x000000ff000000ffu;
  Word mask = 0;
  for (int k = 0; k < 4 - octets; ++k) mask |= kByte0 << 8 * k;
  return (w >> 8 * octets & mask) | (w << 8 * (4 - octets) & ~mask);
}

// Two columns at once: b_r = 2 a_r + 3 a_{r+1} + a_{r+2} + a_{r+3} (FIPS 197, 5.1.3).
Word mix(Word a) {
  Word next = rotate_columns(a, 1);
  return times_x(a ^ next) ^ next ^ rotate_columns(a, 2) ^ rotate_columns(a, 3);
}

void add_round_key(std::size_t blocks, AesRoundKey key, std::uint8_t* state) {
  std::size_t left = key.runs->blocks;
  for (std::size_t b = 0; b < blocks; ++b, --left, state += 16) {
    while (left == 0) left = (++key.runs)->blocks;
    for (int half = 0; half < 16; half += 8)
      store(state + half,
            load(state + half) ^ load(key.runs->round_keys[key.c] + 16 * key.round + half));
  }
}

void sub_shift_mix(std::size_t blocks, const std::uint8_t* in, std::uint8_t constant, bool last,
                   AesRoundKey key, std::uint8_t* out) {
  std::uint8_t* const states = out;
  for (std::size_t b = 0; b < blocks; ++b, in += 16, out += 16) {
    std::uint8_t state[16], shifted[16];
    for (int half = 0; half < 16; half += 8)
      store(state + half, apply(sbox::kAffineColumns, load(in + half)) ^ kLow * constant);
    shift_rows(state, shifted);
    for (int half = 0; half < 16; half += 8) {
      Word w = load(shifted + half);
      store(out + half, last ? w : mix(w));
    }
  }
  add_round_key(blocks, key, states);
}

void inv_shift_sub(std::size_t blocks, const std::uint8_t* in, std::uint8_t constant,
                   std::uint8_t* out) {
  for (std::size_t b = 0; b < blocks; ++b, in += 16, out += 16) {
    std::uint8_t shifted[16];
    inv_shift_rows(in, shifted);
    for (int half = 0; half < 16; half += 8)
      store(out + half, apply(sbox::kAffineInverseColumns, load(shifted + half) ^ kLow * constant));
  }
}

// InvMixColumns = MixColumns after adding 4 (a_r + a_{r+2}) to each octet.
void inv_mix(std::size_t blocks, std::uint8_t* state) {
  for (std::size_t j = 0; j < 16 * blocks; j += 8) {
    Word a = load(state + j);
    store(state + j, mix(a ^ times_x(times_x(a ^ rotate_columns(a, 2)))));
  }
}

void affine(std::size_t n, std::uint8_t* octets, std::uint8_t constant) {
  for (std::size_t j = 0; j < n; j += 8)
    store(octets + j, apply(sbox::kAffineColumns, load(octets + j)) ^ kLow * constant);
}

}  // namespace

const AesByteKernels& aes_byte_kernels_scalar() {
  static constexpr AesByteKernels kKernels = {
      .name = "scalar",
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
  return kKernels;
}

}  // namespace tkdc
