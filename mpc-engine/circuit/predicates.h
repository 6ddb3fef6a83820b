// SPDX-License-Identifier: Apache-2.0
// Tests of values, one bit each, and gating: a value that is all zero unless a bit is set.
#pragma once

#include "circuit/word.h"

namespace tkdc::circuit {

// All of n >= 1 bits: n - 1 ANDs, AND depth ceil(log2 n).
template <Context C>
typename C::Bit all_of(C& c, Bits<C> bits) {
  assert(!bits.empty());
  while (bits.size() > 1) {
    Bits<C> fewer;
    for (std::size_t k = 0; k + 1 < bits.size(); k += 2)
      fewer.push_back(c.and_of(bits[k], bits[k + 1]));
    if (bits.size() % 2 == 1) fewer.push_back(bits.back());
    bits = std::move(fewer);
  }
  return bits[0];
}

template <Context C>
typename C::Bit is_zero(C& c, BitSpan<C> a) {
  Bits<C> clear;
  for (const typename C::Bit& bit : a) clear.push_back(c.not_of(bit));
  return all_of(c, std::move(clear));
}

template <Context C>
typename C::Bit equal(C& c, BitSpan<C> a, BitSpan<C> b) {
  return is_zero(c, BitSpan<C>(xor_bits(c, a, b)));
}

// a < b as numbers without sign: n ANDs, AND depth n. Bit by bit from the lowest: where the bits
// differ, b's decides.
template <Context C>
typename C::Bit less_than(C& c, BitSpan<C> a, BitSpan<C> b) {
  assert(!a.empty() && a.size() == b.size());
  typename C::Bit less = c.and_of(c.not_of(a[0]), b[0]);
  for (std::size_t k = 1; k < a.size(); ++k) less = select(c, c.xor_of(a[k], b[k]), b[k], less);
  return less;
}

// a where `open` is set, else zero: n ANDs, AND depth 1.
template <Context C>
Bits<C> gate(C& c, const typename C::Bit& open, BitSpan<C> a) {
  Bits<C> out;
  for (const typename C::Bit& bit : a) out.push_back(c.and_of(open, bit));
  return out;
}

}  // namespace tkdc::circuit
