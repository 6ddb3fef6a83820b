// SPDX-License-Identifier: Apache-2.0
// 32-bit words of many columns on shares, bit by bit: a plane holds one bit of a word
// in every column. And the message of a layer of products on planes: bit after bit,
// plane after plane, so that only a message's last octet is filled up.
//
// The bits behind the last column are 0 in every plane. Everything is shares. Used by
// one lane's thread; memory stays from layer to layer.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <vector>

#include "rep3/unit/bits/bit_claims.h"

namespace tkdc::bits {

// Plane words go to messages and claims as they stand.
static_assert(std::endian::native == std::endian::little);

using PlaneWords = std::vector<std::uint64_t, WipingAllocator<std::uint64_t>>;
inline constexpr std::size_t kPlaneBits = 64;

// One bit of all columns, both components behind each other: a multiple of 16 octets.
using Plane = std::uint64_t*;

// Planes by number.
class Planes {
 public:
  Planes(std::size_t planes, std::size_t columns)
      : stride_((columns + kPlaneBits - 1) / kPlaneBits), bits_(planes * 2 * stride_) {}

  Plane plane(std::size_t number) { return bits_.data() + number * 2 * stride_; }
  // The word of a component in which a column stands.
  std::uint64_t& word(std::size_t number, int c, std::size_t column) {
    return plane(number)[static_cast<std::size_t>(c) * stride_ + column / kPlaneBits];
  }
  // `to` = the sum of these, of which it may be one.
  void copy(std::size_t to, std::size_t a) { std::copy_n(plane(a), 2 * stride_, plane(to)); }
  void add(std::size_t to, std::size_t a, std::size_t b);
  void add(std::size_t to, std::size_t a, std::size_t b, std::size_t c);
  void add(std::size_t to, std::size_t a, std::size_t b, std::size_t c, std::size_t d);

 private:
  std::size_t stride_;
  PlaneWords bits_;
};

// Transposes 32 words of 32 bits (Warren, Hacker's Delight, section 7-3): bit k of word
// n becomes bit n of word k.
inline void transpose(std::uint32_t (&w)[32]) {
  std::uint32_t mask = 0x0000ffff;
  for (int distance = 16; distance != 0; distance >>= 1, mask ^= mask << distance)
    for (int k = 0; k < 32; k = (k + distance + 1) & ~distance) {
      const std::uint32_t swap = (w[k] >> distance ^ w[k + distance]) & mask;
      w[k] ^= swap << distance;
      w[k + distance] ^= swap;
    }
}

// z = x y of several planes: what a layer sends, and afterwards what is added to other
// planes. Call clear(), the additions, write(), then read().
class PlaneProducts {
 public:
  PlaneProducts(std::size_t columns, std::size_t most);

  void clear() { into_.clear(); }
  // x = a + b, y = c + d; read() adds their product to `to`.
  void add(Plane a, Plane b, Plane c, Plane d, Plane to);

  std::size_t bytes() const { return (into_.size() * columns_ + 7) / 8; }
  void write(std::uint8_t* message);
  // Takes the layer's shares, and claims each of its bits.
  void read(const std::uint8_t* mine, const std::uint8_t* theirs, ClaimLog* claims);

 private:
  std::uint64_t* take_words(std::size_t row, int c, std::size_t at) {
    return rows_[c][row].data() + at / kPlaneBits;
  }
  std::size_t used_words() const { return (into_.size() * columns_ + kPlaneBits - 1) / kPlaneBits; }

  const std::size_t columns_, stride_;
  PlaneWords rows_[2][3];  // x, y, z of each component, without gaps
  std::vector<Plane> into_;
};

}  // namespace tkdc::bits
