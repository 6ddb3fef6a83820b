// SPDX-License-Identifier: Apache-2.0
// 32-bit words of many columns on shares, bit by bit: a plane holds one bit of a word
// in every column. And the message of a layer of products on planes: bit after bit,
// plane after plane, so that only a message's last octet is filled up.
//
// The bits behind the last column are 0 in every plane. Everything is shares. Used by
// one lane's thread; memory stays from layer to layer.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <vector>

#include "cipher/sha1/bit_claims.h"

namespace tkdc::sha1 {

// Plane words go to messages and claims as they stand.
static_assert(std::endian::native == std::endian::little);

using PlaneWords = std::vector<std::uint64_t, WipingAllocator<std::uint64_t>>;
inline constexpr std::size_t kPlaneBits = 64;

// One bit of all columns: component c in the words behind at[c].
struct Plane {
  std::uint64_t* at[2];
};

// Bits 0 to 31 of several words.
class Planes {
 public:
  Planes(std::size_t words, std::size_t columns)
      : stride_((columns + kPlaneBits - 1) / kPlaneBits), bits_(words * 64 * stride_) {}

  Plane bit(std::size_t word, std::size_t k) {
    std::uint64_t* first = bits_.data() + (word * 32 + k) * 2 * stride_;
    return {{first, first + stride_}};
  }
  std::size_t stride() const { return stride_; }

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
  bool empty() const { return into_.empty(); }
  std::size_t products() const { return into_.size(); }
  // to += (a + to)(b + to), which makes of a carry that goes in the one that comes out:
  // the majority of the three.
  void majority(Plane a, Plane b, Plane to) { add(a, to, b, to, to); }
  // to += a (b + to): b where a is 1.
  void choose(Plane a, Plane b, Plane to);

  std::size_t bytes() const { return (into_.size() * columns_ + 7) / 8; }
  void write(std::uint8_t* message);
  // Takes the layer's shares, and claims each of its bits.
  void read(const std::uint8_t* mine, const std::uint8_t* theirs, ClaimLog* claims);

 private:
  // x = a + b, y = c + d.
  void add(Plane a, Plane b, Plane c, Plane d, Plane to);
  std::uint64_t* take_words(std::size_t row, int c, std::size_t at) {
    return rows_[c][row].data() + at / kPlaneBits;
  }
  std::size_t used_words() const { return (into_.size() * columns_ + kPlaneBits - 1) / kPlaneBits; }

  const std::size_t columns_, stride_;
  PlaneWords rows_[2][3];  // x, y, z of each component, without gaps
  PlaneWords zeros_;
  std::vector<Plane> into_;
};

}  // namespace tkdc::sha1
