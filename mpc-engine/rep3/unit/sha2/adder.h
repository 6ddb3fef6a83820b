// SPDX-License-Identifier: Apache-2.0
// Addition modulo 2^32 or 2^64 on shares: SHA-1's prefix adder (the recurrence
// stands in rep3/unit/sha1/adder.h), 5 layers for 32 bits and 6 for 64. Spans grow
// 1, 3, 7, 15, 31, 63; bits that a layer does not change are not sent.
#pragma once

#include <algorithm>
#include <utility>

#include "rep3/unit/sha2/wide.h"

namespace tkdc::sha2 {

template <int L>
class Adder {
 public:
  static constexpr int kLayers = L == 1 ? 5 : 6;
  using Native = typename Wide<L>::Native;

  // Forgets what it held and takes two new summands.
  void start(Wide<L> u, Wide<L> v) {
    p_ = u ^ v;
    u_ = std::move(u);
    v_ = std::move(v);
    carry_ = g_ = span_ = Wide<L>(p_.instances());
  }

  // Adds this layer's fields (k = 1..kLayers); call finish_layer() after they were sent.
  void add_fields(int k, Fields& fields) {
    const int half = 1 << (k - 1);
    next_carry_ = next_span_ = Wide<L>(p_.instances());
    const Wide<L> by_one = shl(carry_, 1), by_half = shl(carry_, half);
    const Wide<L> further = shl(k == 1 ? p_ : span_, half);
    for (std::size_t i = 0; i < L; ++i) {
      const int base = 32 * static_cast<int>(i);
      // Bits below half - 1 hold their final carry already.
      const int from = std::max(half - 1 - base, 0);
      Field& carry = fields.add(from, top_bit<L>(i), next_carry_.limb[i]);
      if (k == 1) {
        carry.add_product(u_.limb[i], v_.limb[i]);
      } else {
        carry.add_linear(g_.limb[i]);
        carry.add_product(p_.limb[i], by_one.limb[i]);
        carry.add_product(span_.limb[i], by_half.limb[i]);
      }
      // P_{2h}[i] is needed from i = 2h on.
      const int span_from = std::max(2 * half - base, 0);
      if (k == kLayers || span_from > top_bit<L>(i)) continue;
      Field& span = fields.add(span_from, top_bit<L>(i), next_span_.limb[i]);
      if (k == 1)
        span.add_product(p_.limb[i], further.limb[i]);
      else
        span.add_product(span_.limb[i], further.limb[i]);
    }
  }

  void finish_layer(int k) {
    const int half = 1 << (k - 1);
    const Native keep = (Native{1} << (half - 1)) - 1;
    add(next_carry_, map(carry_, [keep](Native v) { return v & keep; }));
    carry_ = std::move(next_carry_);
    span_ = std::move(next_span_);
    if (k == 1) g_ = carry_;
  }

  Wide<L> sum() const { return p_ ^ shl(carry_, 1); }

 private:
  Wide<L> u_, v_, p_, g_, carry_, span_, next_carry_, next_span_;
};

}  // namespace tkdc::sha2
