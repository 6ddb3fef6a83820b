// SPDX-License-Identifier: Apache-2.0
// The claims of bitwise layers: the words as they are, 32 bit products in four
// octets. A claim says sum = sum of left * right, bit by bit; bits that are not
// sent are masked in `right` and `sum`, and claim 0 = x 0. Everything here is
// shares. Used by one lane's thread.
#pragma once

#include <initializer_list>

#include "rep3/unit/bits/words.h"

namespace tkdc::bits {

// A word of each of several instances: ((from << shift) ^ also) & mask.
struct ClaimWord {
  const std::uint32_t* from[2] = {nullptr, nullptr};  // [component]
  const std::uint32_t* also[2] = {nullptr, nullptr};
  std::uint32_t mask = ~0u;
  int shift = 0;
};

struct BitProduct {
  ClaimWord left, right;
};

// Where claims of a layer go; nowhere in semi-honest mode.
class ClaimSink {
 public:
  explicit ClaimSink(ClaimLog* log) : log_(log) {}
  bool records() const { return log_ != nullptr; }

  // One or two products.
  void add(std::initializer_list<BitProduct> products, const ClaimWord& sum, std::size_t instances);

 private:
  const std::uint8_t* octets(const ClaimWord& word, int c, std::size_t instances);

  ClaimLog* log_;
  std::vector<Column> made_;  // words that had to be put together
  std::size_t used_ = 0;
};

}  // namespace tkdc::bits
