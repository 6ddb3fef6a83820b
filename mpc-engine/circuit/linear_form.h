// SPDX-License-Identifier: Apache-2.0
// Contexts that follow XORs: a bit is the sum of the inputs and ANDs that it is made of, each of
// them a random number of 128 bits. Sums that cancel show as zero, through as many XORs as there
// are; the bit is a constant then. Folding (recorder.h) finds those of one level of XORs.
//
// For protocols that must not have an AND of a constant: a garbled one's labels are 0 and Δ
// (docs/protocols/19-garbling.md). The numbers are the same in every run. Of bodies that nobody
// chose for them, two sums of a circuit are the same by chance with 2^-80.
#pragma once

#include <cstdint>

#include "circuit/recorder.h"

namespace tkdc::circuit {

// Counts the ANDs that have a constant operand.
class LinearSums {
 public:
  struct Bit {
    std::uint64_t low = 0, high = 0;
    bool complement = false;  // one more than the sum
    bool is_constant() const { return (low | high) == 0; }
  };
  static Bit constant(bool value) { return {0, 0, value}; }
  static Bit not_of(Bit a) { return {a.low, a.high, !a.complement}; }
  static Bit xor_of(Bit a, Bit b) {
    return {a.low ^ b.low, a.high ^ b.high, a.complement != b.complement};
  }
  Bit and_of(Bit a, Bit b);
  // An input, or an AND of two bits that are none of them constant.
  Bit symbol();

  std::uint64_t ands_of_constants() const { return constants_; }

 private:
  std::uint64_t draw();
  std::uint64_t state_ = 0, constants_ = 0;
};

// Records anew what is left where constants vanish.
class LinearForm {
 public:
  struct Bit {
    Recorder::Bit bit;
    LinearSums::Bit sum;
  };
  Bit constant(bool value) const {
    return {recorder_.constant(value), LinearSums::constant(value)};
  }
  Bit not_of(Bit a) const { return {recorder_.not_of(a.bit), LinearSums::not_of(a.sum)}; }
  Bit xor_of(Bit a, Bit b);
  Bit and_of(Bit a, Bit b);

  Bits<LinearForm> input(const std::string& name, std::size_t bits);
  void output(const std::string& name, BitSpan<LinearForm> value);

  Circuit finish() const { return recorder_.finish(); }

 private:
  Recorder recorder_;
  LinearSums sums_;
};

// How many of its ANDs have an operand that is the same whatever the inputs are.
std::uint64_t ands_of_constants(const Circuit& circuit);
// The same function without them.
Circuit without_constant_operands(const Circuit& circuit);

}  // namespace tkdc::circuit
