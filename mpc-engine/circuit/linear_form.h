// SPDX-License-Identifier: Apache-2.0
// The context that follows XORs: a bit is the sum of the inputs and ANDs that it is made of, each
// of them a random number of 64 bits. So sums that cancel show as zero (another sum does with
// 2^-64), through as many XORs as there are.
//
// For protocols that must not have an AND of a constant: a garbled one's labels are 0 and Δ
// (docs/protocols/19-garbling.md). Folding (recorder.h) finds those of one level of XORs.
#pragma once

#include <cstdint>

#include "circuit/circuit.h"

namespace tkdc::circuit {

class LinearForm {
 public:
  struct Bit {
    std::uint64_t sum = 0;
  };
  Bit constant(bool) const { return {}; }
  Bit not_of(Bit a) const { return a; }
  Bit xor_of(Bit a, Bit b) const { return {a.sum ^ b.sum}; }
  Bit and_of(Bit a, Bit b) {
    constants_ += (a.sum == 0 || b.sum == 0) ? 1 : 0;
    return symbol();
  }
  // The next input, or the next AND.
  Bit symbol();
  std::uint64_t ands_of_constants() const { return constants_; }

 private:
  std::uint64_t next_ = 0, constants_ = 0;
};

// How many of its ANDs have an operand that is the same whatever the inputs are.
std::uint64_t ands_of_constants(const Circuit& circuit);

}  // namespace tkdc::circuit
