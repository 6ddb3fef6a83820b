// SPDX-License-Identifier: Apache-2.0
// Sums modulo 2^N. Two ways: kRipple has the fewest ANDs, kPrefix the smallest AND depth.
//
// Ripple: each column of bits is added by full adders (three bits, one AND) and one half adder, and
// its carries go into the next column; the last column needs no carry. Two words: N - 1 ANDs. The
// carry of x + y + z is z ^ (x ^ z)(y ^ z). A constant bit never costs an AND by itself: added to a
// single bit it gives a carry for free.
//
// Prefix: carry-save steps until two words are left, then generate and propagate of each bit,
// joined over doubling distances (Sklansky 1960): AND depth 1 + ceil(log2(N - 1)) for two words.
#pragma once

#include "circuit/word.h"

namespace tkdc::circuit {

enum class Adder : std::uint8_t { kRipple, kPrefix };

namespace detail {

// One column: `bits` and a constant. The sum's bit; carries go behind `next`, and whether there is
// a constant one among them is never needed: a constant meets at most one bit more.
template <Context C>
typename C::Bit add_column(C& c, Bits<C> bits, bool one, Bits<C>* next) {
  using Bit = typename C::Bit;
  if (next == nullptr) {
    Bit sum = c.constant(one);
    for (const Bit& bit : bits) sum = c.xor_of(sum, bit);
    return sum;
  }
  std::size_t at = 0;
  while (bits.size() - at >= 3) {
    const Bit &x = bits[at], &y = bits[at + 1], &z = bits[at + 2];
    const Bit xz = c.xor_of(x, z), sum = c.xor_of(xz, y);
    next->push_back(c.xor_of(z, c.and_of(xz, c.xor_of(y, z))));
    bits.push_back(sum);
    at += 3;
  }
  if (bits.size() == at) return c.constant(one);
  const Bit x = bits[at];
  if (bits.size() - at == 1) {
    if (one) next->push_back(x);
    return one ? c.not_of(x) : x;
  }
  const Bit y = bits[at + 1], both = c.and_of(x, y), sum = c.xor_of(x, y);
  next->push_back(one ? c.xor_of(both, sum) : both);
  return one ? c.not_of(sum) : sum;
}

template <Context C, std::size_t N>
Word<C, N> ripple_sum(C& c, std::span<const Word<C, N>> words, std::uint64_t number) {
  Word<C, N> out;
  Bits<C> carries;
  for (std::size_t k = 0; k < N; ++k) {
    Bits<C> column, next;
    for (const Word<C, N>& word : words) column.push_back(word[k]);
    append<typename C::Bit>(column, carries);
    out[k] = add_column(c, std::move(column), (number >> k & 1) != 0, k + 1 < N ? &next : nullptr);
    carries = std::move(next);
  }
  return out;
}

}  // namespace detail

// a + b + d = first + second, N - 1 ANDs and AND depth 1.
template <Context C, std::size_t N>
std::array<Word<C, N>, 2> carry_save(C& c, const Word<C, N>& a, const Word<C, N>& b,
                                     const Word<C, N>& d) {
  Word<C, N> carry;
  carry[0] = c.constant(false);
  for (std::size_t k = 0; k + 1 < N; ++k) carry[k + 1] = majority(c, a[k], b[k], d[k]);
  return {xor_of(c, a, b, d), carry};
}

template <Context C, std::size_t N>
Word<C, N> add_prefix(C& c, const Word<C, N>& a, const Word<C, N>& b) {
  const Word<C, N> half = xor_of(c, a, b);
  // Over bits first .. k of a group: it generates a carry; it hands one on.
  Word<C, N> generate, propagate = half;
  for (std::size_t k = 0; k + 1 < N; ++k) generate[k] = c.and_of(a[k], b[k]);
  for (std::size_t distance = 1; distance < N - 1; distance *= 2)
    for (std::size_t k = 0; k + 1 < N; ++k) {
      if ((k & distance) == 0) continue;
      const std::size_t below = (k / distance * distance) - 1;  // the end of the group below
      generate[k] = c.xor_of(generate[k], c.and_of(propagate[k], generate[below]));
      if (k >= 2 * distance) propagate[k] = c.and_of(propagate[k], propagate[below]);
    }
  Word<C, N> out = half;
  for (std::size_t k = 1; k < N; ++k) out[k] = c.xor_of(half[k], generate[k - 1]);
  return out;
}

// The sum of the words and a constant.
template <Context C, std::size_t N>
Word<C, N> sum(C& c, std::vector<Word<C, N>> words, std::uint64_t number = 0,
               Adder adder = Adder::kRipple) {
  static_assert(N >= 2 && N <= 64);
  if (adder == Adder::kRipple)
    return detail::ripple_sum<C, N>(c, std::span<const Word<C, N>>(words), number);
  if (number != 0) words.push_back(constant<N>(c, number));
  while (words.size() > 2) {
    std::vector<Word<C, N>> fewer;
    std::size_t at = 0;
    for (; words.size() - at >= 3; at += 3)
      for (const Word<C, N>& one : carry_save(c, words[at], words[at + 1], words[at + 2]))
        fewer.push_back(one);
    fewer.insert(fewer.end(), words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
    words = std::move(fewer);
  }
  if (words.empty()) return constant<N>(c, 0);
  return words.size() == 1 ? words[0] : add_prefix(c, words[0], words[1]);
}

template <Context C, std::size_t N>
Word<C, N> add(C& c, const Word<C, N>& a, const Word<C, N>& b, Adder adder = Adder::kRipple) {
  return sum<C, N>(c, {a, b}, 0, adder);
}

}  // namespace tkdc::circuit
