// SPDX-License-Identifier: Apache-2.0
// SHA-2's compression functions (FIPS 180-4, sections 6.2.2 and 6.4.2): words of N = 32 bits are
// SHA-256, of 64 SHA-512, which SHA-384 has too. State (8 words) and block (16) are big-endian
// octet strings.
#pragma once

#include "circuits/vocabulary.h"

namespace tkdc::circuits {

namespace sha2_detail {

// Section 4.2.3: the first 64 bits of the fractional parts of the cube roots of the first 80
// primes; SHA-256 has the first 32 of the first 64 (section 4.2.2).
const std::array<std::uint64_t, 80>& constants();

// Section 4.1.2 and 4.1.3: three rotations, of the small sigmas the last is a shift.
struct Turns {
  std::size_t a, b, last;
};
struct Shape {
  std::size_t rounds;
  Turns sum0, sum1, sigma0, sigma1;
};
template <std::size_t N>
inline constexpr Shape kShape = {64, {2, 13, 22}, {6, 11, 25}, {7, 18, 3}, {17, 19, 10}};
template <>
inline constexpr Shape kShape<64> = {80, {28, 34, 39}, {14, 18, 41}, {1, 8, 7}, {19, 61, 6}};

template <Context C, std::size_t N>
Word<C, N> big_sigma(C& c, const Word<C, N>& x, const Turns& turns) {
  return circuit::xor_of(c, circuit::rotate_right(x, turns.a), circuit::rotate_right(x, turns.b),
                         circuit::rotate_right(x, turns.last));
}
template <Context C, std::size_t N>
Word<C, N> small_sigma(C& c, const Word<C, N>& x, const Turns& turns) {
  return circuit::xor_of(c, circuit::rotate_right(x, turns.a), circuit::rotate_right(x, turns.b),
                         circuit::shift_right(c, x, turns.last));
}

}  // namespace sha2_detail

template <std::size_t N, Context C>
Bits<C> sha2_compress(C& c, BitSpan<C> state, BitSpan<C> block, Adder adder = Adder::kRipple) {
  using namespace sha2_detail;
  using W = Word<C, N>;
  constexpr Shape kNow = kShape<N>;
  assert(state.size() == 8 * N && block.size() == 16 * N);
  std::vector<W> w;
  for (std::size_t t = 0; t < 16; ++t) w.push_back(circuit::big_endian_word<N, C>(block, t));
  for (std::size_t t = 16; t < kNow.rounds; ++t)
    w.push_back(circuit::sum<C, N>(c,
                                   {w[t - 16], w[t - 7], small_sigma(c, w[t - 15], kNow.sigma0),
                                    small_sigma(c, w[t - 2], kNow.sigma1)},
                                   0, adder));
  std::array<W, 8> h;
  for (std::size_t k = 0; k < 8; ++k) h[k] = circuit::big_endian_word<N, C>(state, k);
  std::array<W, 8> v = h;  // the standard's a to h
  for (std::size_t t = 0; t < kNow.rounds; ++t) {
    const W first = circuit::sum<C, N>(
        c, {w[t], v[7], circuit::choose(c, v[4], v[5], v[6]), big_sigma(c, v[4], kNow.sum1)},
        constants()[t] >> (64 - N), adder);
    const W next = circuit::sum<C, N>(
        c, {big_sigma(c, v[0], kNow.sum0), circuit::majority(c, v[0], v[1], v[2]), first}, 0,
        adder);
    const W middle = circuit::add(c, v[3], first, adder);
    v = {next, v[0], v[1], v[2], middle, v[4], v[5], v[6]};
  }
  Bits<C> out;
  for (std::size_t k = 0; k < 8; ++k)
    circuit::append_big_endian(out, circuit::add(c, h[k], v[k], adder));
  return out;
}

}  // namespace tkdc::circuits
