// SPDX-License-Identifier: Apache-2.0
// The context that counts: gates, and the most ANDs on a path. Constants are known: an AND with one
// costs nothing, an XOR with one is a NOT or nothing.
#pragma once

#include <algorithm>

#include "circuit/word.h"

namespace tkdc::circuit {

struct GateCounts {
  std::uint64_t ands = 0, xors = 0, nots = 0;
  std::uint32_t and_depth = 0;
  bool operator==(const GateCounts&) const = default;
};

class Counter {
 public:
  struct Bit {
    std::uint32_t depth = 0;
    bool known = false, value = false;  // a constant, and which
  };

  Bit constant(bool value) const { return {0, true, value}; }
  Bit not_of(const Bit& a) {
    if (a.known) return constant(!a.value);
    ++counts_.nots;
    return a;
  }
  Bit xor_of(const Bit& a, const Bit& b) {
    if (a.known) return a.value ? not_of(b) : b;
    if (b.known) return b.value ? not_of(a) : a;
    ++counts_.xors;
    return reached(std::max(a.depth, b.depth));
  }
  Bit and_of(const Bit& a, const Bit& b) {
    if (a.known) return a.value ? b : a;
    if (b.known) return b.value ? a : b;
    ++counts_.ands;
    return reached(std::max(a.depth, b.depth) + 1);
  }

  Bits<Counter> input(const std::string&, std::size_t bits) { return Bits<Counter>(bits); }
  void output(const std::string&, BitSpan<Counter>) {}
  // Of all gates, also of those whose results nobody uses.
  const GateCounts& counts() const { return counts_; }

 private:
  Bit reached(std::uint32_t depth) {
    counts_.and_depth = std::max(counts_.and_depth, depth);
    return {depth, false, false};
  }
  GateCounts counts_;
};

}  // namespace tkdc::circuit
