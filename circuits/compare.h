// SPDX-License-Identifier: Apache-2.0
// Comparison with gating: a value leaves only if two others are equal. Whether they are is an
// output too. What a refused request shows is then the same whatever the value is.
#pragma once

#include "circuit/predicates.h"
#include "circuits/vocabulary.h"

namespace tkdc::circuits {

template <class C>
struct Gated {
  typename C::Bit equal;
  Bits<C> value;  // zero unless equal
};

// n bits of tags and m of value: n - 1 + m ANDs, AND depth ceil(log2 n) + 1.
template <Context C>
Gated<C> open_if_equal(C& c, BitSpan<C> tag, BitSpan<C> expected, BitSpan<C> value) {
  const typename C::Bit same = circuit::equal(c, tag, expected);
  return {same, circuit::gate(c, same, value)};
}

}  // namespace tkdc::circuits
