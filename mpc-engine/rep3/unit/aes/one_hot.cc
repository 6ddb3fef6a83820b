// SPDX-License-Identifier: Apache-2.0
#include "rep3/unit/aes/one_hot.h"

#include <array>

#include "field/gf256.h"
#include "rep3/verify/extension.h"

namespace tkdc::one_hot {
namespace {

using Word = std::uint64_t;

// Bit u of vector b: bit b of u^-1 (0 for 0).
using Table = std::array<std::array<Word, kVectorWords>, 8>;
constexpr Table make_table() {
  Table table{};
  for (unsigned u = 1; u < 256; ++u) {
    const std::uint8_t inverse = gf256_inverse(static_cast<std::uint8_t>(u));
    for (unsigned b = 0; b < 8; ++b) table[b][u / 64] |= Word{inverse >> b & 1u} << u % 64;
  }
  return table;
}
constexpr Table kInverse = make_table();

// Positions whose bit k is 0.
constexpr Word kWithout[6] = {0x5555555555555555u, 0x3333333333333333u, 0x0f0f0f0f0f0f0f0fu,
                              0x00ff00ff00ff00ffu, 0x0000ffff0000ffffu, 0x00000000ffffffffu};

// Bit u goes to u + t, within `bits` bits of index. t is public.
Word moved(Word v, unsigned t, unsigned bits) {
  for (unsigned k = 0; k < bits; ++k)
    if (t >> k & 1) v = (v & kWithout[k]) << (1u << k) | (v >> (1u << k) & kWithout[k]);
  return v;
}

std::uint8_t times_inverses(const Word vector[kVectorWords]) {
  unsigned out = 0;
  for (unsigned b = 0; b < 8; ++b) {
    Word sum = 0;
    for (std::size_t g = 0; g < kVectorWords; ++g) sum ^= vector[g] & kInverse[b][g];
    for (unsigned shift = 32; shift > 0; shift /= 2) sum ^= sum >> shift;
    out |= static_cast<unsigned>(sum & 1) << b;
  }
  return static_cast<std::uint8_t>(out);
}

// For each bit k of the index: what stands where it is 1 is added where it is 0.
Word add_supersets(Word v, unsigned bits) {
  for (unsigned k = 0; k < bits; ++k) v ^= v >> (1u << k) & kWithout[k];
  return v;
}

Word if_bit(unsigned vector, unsigned k, unsigned value) {
  return Word{value & (0u - (vector >> k & 1u))};
}

}  // namespace

// The product over all bits b of r_b, or of 1 + r_b where i has none, is the sum of
// the monomials of all supersets of i.
std::uint16_t vector_of_nibble(std::uint16_t monomials) {
  return static_cast<std::uint16_t>(add_supersets(monomials, 4));
}

void vector_of_octet(Word v[kVectorWords]) {
  for (std::size_t g = 0; g < kVectorWords; ++g) v[g] = add_supersets(v[g], 6);
  v[0] ^= v[1];
  v[2] ^= v[3];
  v[0] ^= v[2];
  v[1] ^= v[3];
}

std::uint8_t inverse_terms(const Halves& vector, std::uint8_t t) {
  const unsigned at_low = t & 15u, at_high = t >> 4;
  unsigned low[2], high[2];
  for (int c = 0; c < 2; ++c) {
    low[c] = static_cast<unsigned>(moved(vector.low[c], at_low, 4));
    high[c] = static_cast<unsigned>(moved(vector.high[c], at_high, 4));
  }
  const unsigned both = low[0] ^ low[1];
  Word terms[kVectorWords];
  for (unsigned g = 0; g < kVectorWords; ++g) {
    terms[g] = 0;
    for (unsigned q = 0; q < 4; ++q)
      terms[g] |= (if_bit(high[0], 4 * g + q, both) ^ if_bit(high[1], 4 * g + q, low[0])) << 16 * q;
  }
  return times_inverses(terms);
}

std::uint8_t inverse_component(const Word vector[kVectorWords], std::uint8_t t) {
  Word v[kVectorWords];
  for (std::size_t g = 0; g < kVectorWords; ++g) v[g] = moved(vector[g ^ (t >> 6)], t & 63u, 6);
  return times_inverses(v);
}

}  // namespace tkdc::one_hot
