// SPDX-License-Identifier: Apache-2.0
// AES (FIPS 197) on one block, with round keys given, and the expansion of keys. Values are octet
// strings (circuit/word.h); round keys stand one after the other, 16 octets each, in the order of
// encryption: 11 for AES-128, 15 for AES-256.
//
// ANDs: 32 for each S-box, so 5,120 and 7,168 for a block, 1,280 and 1,664 for an expansion.
#pragma once

#include <algorithm>

#include "circuits/aes_sbox.h"

namespace tkdc::circuits {

inline constexpr std::size_t kAesBlockBits = 128;

namespace aes_detail {

// FIPS 197, section 5.1.3 and 5.3.3: one column of 32 bits.
const circuit::LinearMap& mix_column();
const circuit::LinearMap& unmix_column();

template <Context C>
Bits<C> each_octet(C& c, BitSpan<C> state, const AesSbox& box) {
  Bits<C> out;
  for (std::size_t at = 0; at < state.size(); at += 8)
    circuit::append<typename C::Bit>(out, box(c, state.subspan(at, 8)));
  return out;
}

template <Context C>
Bits<C> each_column(C& c, BitSpan<C> state, const circuit::LinearMap& map) {
  Bits<C> out;
  for (std::size_t at = 0; at < state.size(); at += 32)
    circuit::append<typename C::Bit>(out, map(c, state.subspan(at, 32)));
  return out;
}

// Row r moves r columns to the left; backwards to the right.
template <class C>
Bits<C> shift_rows(const Bits<C>& state, bool backwards) {
  Bits<C> out;
  for (std::size_t octet = 0; octet < 16; ++octet) {
    const std::size_t row = octet % 4, turn = backwards ? 16 - 4 * row : 4 * row;
    const std::size_t from = (octet + turn) % 16;
    for (std::size_t k = 0; k < 8; ++k) out.push_back(state[8 * from + k]);
  }
  return out;
}

template <class C>
BitSpan<C> round_key(BitSpan<C> keys, std::size_t round) {
  return keys.subspan(round * kAesBlockBits, kAesBlockBits);
}

template <class C>
std::size_t rounds_of(BitSpan<C> keys, [[maybe_unused]] BitSpan<C> block) {
  const std::size_t rounds = keys.size() / kAesBlockBits - 1;
  assert((rounds == 10 || rounds == 14) && block.size() == kAesBlockBits);
  return rounds;
}

}  // namespace aes_detail

// FIPS 197, section 5.1.
template <Context C>
Bits<C> aes_encrypt(C& c, BitSpan<C> keys, BitSpan<C> block) {
  using namespace aes_detail;
  using Span = BitSpan<C>;
  const std::size_t rounds = rounds_of<C>(keys, block);
  Bits<C> state = circuit::xor_bits(c, block, round_key<C>(keys, 0));
  for (std::size_t round = 1; round <= rounds; ++round) {
    state = shift_rows<C>(each_octet(c, Span(state), AesSbox::forward()), false);
    if (round < rounds) state = each_column(c, Span(state), mix_column());
    state = circuit::xor_bits(c, Span(state), round_key<C>(keys, round));
  }
  return state;
}

// FIPS 197, section 5.3.
template <Context C>
Bits<C> aes_decrypt(C& c, BitSpan<C> keys, BitSpan<C> block) {
  using namespace aes_detail;
  using Span = BitSpan<C>;
  const std::size_t rounds = rounds_of<C>(keys, block);
  Bits<C> state = circuit::xor_bits(c, block, round_key<C>(keys, rounds));
  for (std::size_t round = rounds; round-- > 0;) {
    state = each_octet(c, Span(shift_rows<C>(state, true)), AesSbox::inverse());
    state = circuit::xor_bits(c, Span(state), round_key<C>(keys, round));
    if (round > 0) state = each_column(c, Span(state), unmix_column());
  }
  return state;
}

// FIPS 197, section 5.2: all round keys of a key of 16 or 32 octets.
template <Context C>
Bits<C> aes_expand(C& c, BitSpan<C> key) {
  using Span = BitSpan<C>;
  const std::size_t words = key.size() / 32, total = words == 4 ? 44 : 60;
  assert(words == 4 || words == 8);
  Bits<C> out(key.begin(), key.end());
  std::uint8_t rcon = 1;
  for (std::size_t n = words; n < total; ++n) {
    Bits<C> word(out.end() - 32, out.end());
    if (n % words == 0) {
      std::rotate(word.begin(), word.begin() + 8, word.end());
      word = aes_detail::each_octet(c, Span(word), AesSbox::forward());
      const Bits<C> added = circuit::constant_octets(c, std::span(&rcon, 1));
      for (std::size_t k = 0; k < 8; ++k) word[k] = c.xor_of(word[k], added[k]);
      rcon = gf256_times_x(rcon);
    } else if (words == 8 && n % words == 4) {
      word = aes_detail::each_octet(c, Span(word), AesSbox::forward());
    }
    const Bits<C> next = circuit::xor_bits(c, Span(word), Span(out).subspan((n - words) * 32, 32));
    circuit::append<typename C::Bit>(out, next);
  }
  return out;
}

}  // namespace tkdc::circuits
