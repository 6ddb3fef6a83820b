// SPDX-License-Identifier: Apache-2.0
// SHA-1's compression function (FIPS 180-4, section 6.1.2). State (20 octets) and block (64) are
// big-endian octet strings.
#pragma once

#include "circuits/vocabulary.h"

namespace tkdc::circuits {

inline constexpr std::size_t kSha1StateBits = 160, kSha1BlockBits = 512;

namespace sha1_detail {

inline constexpr std::uint32_t kConstants[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};

// Section 4.1.1.
template <Context C>
Word<C, 32> mixed(C& c, std::size_t t, const Word<C, 32>& x, const Word<C, 32>& y,
                  const Word<C, 32>& z) {
  if (t < 20) return circuit::choose(c, x, y, z);
  if (t < 40 || t >= 60) return circuit::xor_of(c, x, y, z);
  return circuit::majority(c, x, y, z);
}

}  // namespace sha1_detail

template <Context C>
Bits<C> sha1_compress(C& c, BitSpan<C> state, BitSpan<C> block, Adder adder = Adder::kRipple) {
  using W = Word<C, 32>;
  assert(state.size() == kSha1StateBits && block.size() == kSha1BlockBits);
  std::vector<W> w;
  for (std::size_t t = 0; t < 16; ++t) w.push_back(circuit::big_endian_word<32, C>(block, t));
  for (std::size_t t = 16; t < 80; ++t)
    w.push_back(
        circuit::rotate_left(circuit::xor_of(c, w[t - 3], w[t - 8], w[t - 14], w[t - 16]), 1));
  std::array<W, 5> h;
  for (std::size_t k = 0; k < 5; ++k) h[k] = circuit::big_endian_word<32, C>(state, k);
  auto [a, b, d, e, f] = h;  // the standard's a, b, c, d, e
  for (std::size_t t = 0; t < 80; ++t) {
    const W next = circuit::sum<C, 32>(
        c, {w[t], f, sha1_detail::mixed(c, t, b, d, e), circuit::rotate_left(a, 5)},
        sha1_detail::kConstants[t / 20], adder);
    f = e;
    e = d;
    d = circuit::rotate_left(b, 30);
    b = a;
    a = next;
  }
  Bits<C> out;
  const std::array<W, 5> last{a, b, d, e, f};
  for (std::size_t k = 0; k < 5; ++k)
    circuit::append_big_endian(out, circuit::add(c, h[k], last[k], adder));
  return out;
}

}  // namespace tkdc::circuits
