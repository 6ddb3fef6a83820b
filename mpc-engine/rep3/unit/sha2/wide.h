// SPDX-License-Identifier: Apache-2.0
// Words of 32 or 64 bits of many SHA-2 instances on shares, made of 32-bit
// columns (rep3/unit/bits/words.h): a 64-bit word is two of them, the lower one first.
#pragma once

#include <array>
#include <type_traits>

#include "protocol/replicated.h"
#include "rep3/unit/bits/words.h"

namespace tkdc::sha2 {

using bits::Field;
using bits::Fields;
using bits::Words;

// L: limbs of a word, 1 (SHA-256) or 2 (SHA-384).
template <int L>
struct Wide {
  static constexpr int kBits = 32 * L;
  using Native = std::conditional_t<L == 1, std::uint32_t, std::uint64_t>;

  explicit Wide(std::size_t instances = 0) {
    for (Words& w : limb) w = Words(instances);
  }
  std::size_t instances() const { return limb[0].instances(); }

  std::array<Words, L> limb;
};

template <int L>
inline void add(Wide<L>& r, const Wide<L>& a) {
  for (std::size_t i = 0; i < L; ++i) bits::add(r.limb[i], a.limb[i]);
}
template <int L>
inline Wide<L> operator^(Wide<L> a, const Wide<L>& b) {
  add(a, b);
  return a;
}

// f of each component of each instance; f is linear and takes whole words.
template <int L, class F>
inline Wide<L> map(const Wide<L>& a, F f) {
  Wide<L> r(a.instances());
  if constexpr (L == 1) {
    r.limb[0] = bits::map(a.limb[0], f);
  } else {
    auto column = [&](const bits::Column& low, const bits::Column& high, bits::Column& to_low,
                      bits::Column& to_high) {
      for (std::size_t n = 0; n < low.size(); ++n) {
        const std::uint64_t v = f(std::uint64_t{high[n]} << 32 | low[n]);
        to_low[n] = static_cast<std::uint32_t>(v);
        to_high[n] = static_cast<std::uint32_t>(v >> 32);
      }
    };
    column(a.limb[0].x, a.limb[1].x, r.limb[0].x, r.limb[1].x);
    column(a.limb[0].y, a.limb[1].y, r.limb[0].y, r.limb[1].y);
  }
  return r;
}
template <int L>
inline Wide<L> shl(const Wide<L>& a, int k) {
  return map(a, [k](typename Wide<L>::Native v) -> typename Wide<L>::Native { return v << k; });
}

// w ^= the public value.
template <int L>
inline void add_public(Wide<L>& w, int party, typename Wide<L>::Native value) {
  const int c = constant_component(party);
  if (c < 0) return;
  for (std::size_t i = 0; i < L; ++i) {
    const auto part = static_cast<std::uint32_t>(std::uint64_t{value} >> 32 * i);
    for (std::uint32_t& word : c == 0 ? w.limb[i].x : w.limb[i].y) word ^= part;
  }
}

// The highest bit of a limb that a carry is needed from: none leaves the word.
template <int L>
constexpr int top_bit(std::size_t i) {
  return i + 1 == L ? 30 : 31;
}

// x + y + z = sum + 2 carry, carry = maj(x, y, z) = x ^ (x ^ y)(x ^ z).
// `fields` points into it: it must stay where it is until the layer was sent.
template <int L>
struct CarrySave {
  Wide<L> sum, carry;  // carry is not shifted yet

  void add_field(Fields& fields, const Wide<L>& x, const Wide<L>& y, const Wide<L>& z) {
    sum = x ^ y ^ z;
    carry = Wide<L>(x.instances());
    for (std::size_t i = 0; i < L; ++i) {
      Field& field = fields.add(0, top_bit<L>(i), carry.limb[i]);
      field.add_linear(x.limb[i]);
      field.add_product(x.limb[i] ^ y.limb[i], x.limb[i] ^ z.limb[i]);
    }
  }
  // With a public third summand: maj(x, y, k) = x y ^ k (x ^ y).
  void add_field(Fields& fields, int party, const Wide<L>& x, const Wide<L>& y,
                 typename Wide<L>::Native k) {
    sum = x ^ y;
    carry = Wide<L>(x.instances());
    const Wide<L> masked = map(sum, [k](typename Wide<L>::Native v) { return v & k; });
    for (std::size_t i = 0; i < L; ++i) {
      Field& field = fields.add(0, top_bit<L>(i), carry.limb[i]);
      field.add_linear(masked.limb[i]);
      field.add_product(x.limb[i], y.limb[i]);
    }
    add_public(sum, party, k);
  }
  Wide<L> shifted() const { return shl(carry, 1); }
};

}  // namespace tkdc::sha2
