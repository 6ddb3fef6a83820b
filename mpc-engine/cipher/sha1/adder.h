// SPDX-License-Identifier: Apache-2.0
// Addition modulo 2^32 on shares: a prefix adder of 5 layers.
//
// With g = u v and p = u ^ v, let G_w[i] be the carry that bits i-w+1..i
// generate and P_w[i] the product of p over them. A layer gives any quadratic
// form at one message bit per output bit, so P runs one doubling ahead of G:
//   layer 1: G_1 = u v                                  P_2 = p[i] p[i-1]
//   layer 2: G_3 = g[i] + p[i] g[i-1] + P_2[i] g[i-2]   P_4 = P_2[i] P_2[i-2]
//   layer k: G_{2^k - 1}[i] = g[i] + p[i] G_{h-1}[i-1] + P_h[i] G_{h-1}[i-h],
//            h = 2^{k-1};  P_{2^k} = P_h[i] P_h[i-h]
// After layer 5, G_31 holds every carry. Bits that a layer does not change are
// not sent: 223 message bits in all (30 octets).
#pragma once

#include "cipher/sha1/lanes.h"

namespace tkdc::sha1 {

class Adder {
 public:
  static constexpr int kLayers = 5;

  // Forgets what it held and takes two new summands.
  void start(Words u, Words v) {
    p_ = u ^ v;
    u_ = std::move(u);
    v_ = std::move(v);
    carry_ = g_ = span_ = Words(p_.instances());
  }

  // Adds this layer's fields (k = 1..kLayers); call finish_layer() after they were sent.
  void add_fields(int k, std::vector<Field>& fields) {
    const int half = 1 << (k - 1);
    const std::size_t n = p_.instances();
    next_carry_ = Words(n);
    next_span_ = Words(n);
    // Bits below half - 1 hold their final carry already.
    fields.emplace_back(half - 1, 30, next_carry_);
    Column& carry = fields.back().terms;
    if (k == 1) {
      add_product(carry, u_, v_);
    } else {
      add_linear(carry, g_);
      add_product(carry, p_, shl(carry_, 1));
      add_product(carry, span_, shl(carry_, half));
    }
    if (k == kLayers) return;
    // P_{2h}[i] is needed from i = 2h on.
    fields.emplace_back(2 * half, 30, next_span_);
    Column& span = fields.back().terms;
    const Words& base = k == 1 ? p_ : span_;
    add_product(span, base, shl(base, half));
  }

  void finish_layer(int k) {
    const int half = 1 << (k - 1);
    const std::uint32_t keep = (1u << (half - 1)) - 1;
    add(next_carry_, map(carry_, [keep](std::uint32_t v) { return v & keep; }));
    carry_ = std::move(next_carry_);
    span_ = std::move(next_span_);
    if (k == 1) g_ = carry_;
  }

  Words sum() const { return p_ ^ shl(carry_, 1); }

 private:
  Words u_, v_, p_, g_, carry_, span_, next_carry_, next_span_;
};

}  // namespace tkdc::sha1
