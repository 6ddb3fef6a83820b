// SPDX-License-Identifier: Apache-2.0
// Words of bits, and what is done with them in any context.
//
// A circuit is a function template over a context C. The context says what a bit is and what XOR,
// AND and NOT do with it: plain.h computes, counter.h counts, recorder.h records. Rotations, shifts
// and the order of octets are wiring and cost nothing. Bit 0 of a word is its lowest; bit k of
// octet j of an octet string is the string's bit 8 j + k.
#pragma once

#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tkdc::circuit {

template <class C>
concept Context = requires(C& c, const typename C::Bit& a, bool value) {
  { c.xor_of(a, a) } -> std::same_as<typename C::Bit>;
  { c.and_of(a, a) } -> std::same_as<typename C::Bit>;
  { c.not_of(a) } -> std::same_as<typename C::Bit>;
  { c.constant(value) } -> std::same_as<typename C::Bit>;
};

// A value of public length: an octet string, or a number of any width.
template <class C>
using Bits = std::vector<typename C::Bit>;
template <class C>
using BitSpan = std::span<const typename C::Bit>;

template <class C, std::size_t N>
struct Word {
  static constexpr std::size_t kBits = N;
  std::array<typename C::Bit, N> bit{};

  typename C::Bit& operator[](std::size_t k) { return bit[k]; }
  const typename C::Bit& operator[](std::size_t k) const { return bit[k]; }
};

// ---- wiring

template <std::size_t N, Context C>
Word<C, N> constant(C& c, std::uint64_t value) {
  static_assert(N <= 64);
  Word<C, N> out;
  for (std::size_t k = 0; k < N; ++k) out[k] = c.constant((value >> k & 1) != 0);
  return out;
}

template <class C, std::size_t N>
Word<C, N> rotate_right(const Word<C, N>& a, std::size_t by) {
  Word<C, N> out;
  for (std::size_t k = 0; k < N; ++k) out[k] = a[(k + by) % N];
  return out;
}

template <class C, std::size_t N>
Word<C, N> rotate_left(const Word<C, N>& a, std::size_t by) {
  return rotate_right(a, N - by % N);
}

template <Context C, std::size_t N>
Word<C, N> shift_right(C& c, const Word<C, N>& a, std::size_t by) {
  Word<C, N> out;
  for (std::size_t k = 0; k < N; ++k) out[k] = k + by < N ? a[k + by] : c.constant(false);
  return out;
}

template <Context C, std::size_t N>
Word<C, N> shift_left(C& c, const Word<C, N>& a, std::size_t by) {
  Word<C, N> out;
  for (std::size_t k = 0; k < N; ++k) out[k] = k >= by ? a[k - by] : c.constant(false);
  return out;
}

// Word number k of a string of big-endian words.
template <std::size_t N, class C>
Word<C, N> big_endian_word(std::span<const typename C::Bit> string, std::size_t k) {
  static_assert(N % 8 == 0);
  assert(string.size() >= (k + 1) * N);
  Word<C, N> out;
  for (std::size_t i = 0; i < N; ++i) out[i] = string[k * N + (N / 8 - 1 - i / 8) * 8 + i % 8];
  return out;
}

template <class C, std::size_t N>
void append_big_endian(Bits<C>& string, const Word<C, N>& word) {
  for (std::size_t octet = N / 8; octet-- > 0;)
    for (std::size_t k = 0; k < 8; ++k) string.push_back(word[8 * octet + k]);
}

template <Context C>
Bits<C> constant_octets(C& c, std::span<const std::uint8_t> octets) {
  Bits<C> out;
  for (const std::uint8_t octet : octets)
    for (std::size_t k = 0; k < 8; ++k) out.push_back(c.constant((octet >> k & 1) != 0));
  return out;
}

template <class Bit>
void append(std::vector<Bit>& to, std::span<const Bit> more) {
  to.insert(to.end(), more.begin(), more.end());
}

// ---- XOR, AND, NOT of each bit

template <Context C, std::size_t N>
Word<C, N> xor_of(C& c, const Word<C, N>& a, const Word<C, N>& b) {
  Word<C, N> out;
  for (std::size_t k = 0; k < N; ++k) out[k] = c.xor_of(a[k], b[k]);
  return out;
}

template <Context C, std::size_t N, class... More>
Word<C, N> xor_of(C& c, const Word<C, N>& a, const Word<C, N>& b, const More&... more) {
  return xor_of(c, xor_of(c, a, b), more...);
}

template <Context C, std::size_t N>
Word<C, N> and_of(C& c, const Word<C, N>& a, const Word<C, N>& b) {
  Word<C, N> out;
  for (std::size_t k = 0; k < N; ++k) out[k] = c.and_of(a[k], b[k]);
  return out;
}

template <Context C, std::size_t N>
Word<C, N> not_of(C& c, const Word<C, N>& a) {
  Word<C, N> out;
  for (std::size_t k = 0; k < N; ++k) out[k] = c.not_of(a[k]);
  return out;
}

template <Context C>
Bits<C> xor_bits(C& c, BitSpan<C> a, BitSpan<C> b) {
  assert(a.size() == b.size());
  Bits<C> out;
  out.reserve(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) out.push_back(c.xor_of(a[k], b[k]));
  return out;
}

// ---- selection

// s ? a : b, 1 AND.
template <Context C>
typename C::Bit select(C& c, const typename C::Bit& s, const typename C::Bit& a,
                       const typename C::Bit& b) {
  return c.xor_of(b, c.and_of(s, c.xor_of(a, b)));
}

// The same of each bit, N ANDs. With a word as s: FIPS 180-4's Ch.
template <Context C, std::size_t N>
Word<C, N> mux(C& c, const typename C::Bit& s, const Word<C, N>& a, const Word<C, N>& b) {
  Word<C, N> out;
  for (std::size_t k = 0; k < N; ++k) out[k] = select(c, s, a[k], b[k]);
  return out;
}

template <Context C, std::size_t N>
Word<C, N> choose(C& c, const Word<C, N>& s, const Word<C, N>& a, const Word<C, N>& b) {
  Word<C, N> out;
  for (std::size_t k = 0; k < N; ++k) out[k] = select(c, s[k], a[k], b[k]);
  return out;
}

// The majority of three bits, 1 AND: b where a = b, else d. A full adder's carry too.
template <Context C>
typename C::Bit majority(C& c, const typename C::Bit& a, const typename C::Bit& b,
                         const typename C::Bit& d) {
  // One gate after the other: compilers evaluate a call's arguments in orders of their own, and
  // servers compare their circuits.
  const typename C::Bit right = c.xor_of(b, d), left = c.xor_of(a, d);
  return c.xor_of(d, c.and_of(left, right));
}

template <Context C, std::size_t N>
Word<C, N> majority(C& c, const Word<C, N>& a, const Word<C, N>& b, const Word<C, N>& d) {
  Word<C, N> out;
  for (std::size_t k = 0; k < N; ++k) out[k] = majority(c, a[k], b[k], d[k]);
  return out;
}

}  // namespace tkdc::circuit
