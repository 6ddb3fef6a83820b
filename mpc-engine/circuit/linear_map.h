// SPDX-License-Identifier: Apache-2.0
// A linear map over GF(2) as few XORs: as long as two signals are added in several outputs, the
// pair that most outputs have in common becomes a signal of its own (Paar, ISIT 1997, greedy and
// without cancellation).
#pragma once

#include "circuit/word.h"

namespace tkdc::circuit {

class LinearMap {
 public:
  // Output r is the XOR of the inputs whose bits are set in rows[r]. At most 64 of each.
  LinearMap(std::size_t inputs, std::span<const std::uint64_t> rows);

  std::size_t inputs() const { return inputs_; }
  std::size_t xors() const { return steps_.size(); }

  template <Context C>
  Bits<C> operator()(C& c, BitSpan<C> x) const {
    assert(x.size() == inputs_);
    Bits<C> signals(x.begin(), x.end());
    for (const auto& [a, b] : steps_) signals.push_back(c.xor_of(signals[a], signals[b]));
    Bits<C> out;
    for (const std::size_t signal : outputs_)
      out.push_back(signal == kNone ? c.constant(false) : signals[signal]);
    return out;
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};  // an output without inputs
  struct Step {
    std::size_t a, b;
  };
  std::size_t inputs_;
  std::vector<Step> steps_;
  std::vector<std::size_t> outputs_;
};

}  // namespace tkdc::circuit
