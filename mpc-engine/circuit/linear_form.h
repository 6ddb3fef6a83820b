// SPDX-License-Identifier: Apache-2.0
// The context that follows XORs, and records anew: beside a recorder's bit stands the sum of the
// inputs and ANDs that it is made of, each of them a random number of 128 bits. Sums that cancel
// show as zero, through as many XORs as there are; the bit is a constant then, and ANDs with it
// vanish. Folding (recorder.h) finds those of one level of XORs.
//
// For protocols that must not have an AND of a constant: a garbled one's labels are 0 and Δ
// (docs/protocols/19-garbling.md). The numbers are the same in every run. Of bodies that nobody
// chose for them, two sums of a circuit are the same by chance with 2^-80.
#pragma once

#include <cstdint>

#include "circuit/recorder.h"

namespace tkdc::circuit {

class LinearForm {
 public:
  struct Bit {
    Recorder::Bit bit;
    std::uint64_t low = 0, high = 0;  // the sum
    bool complement = false;          // one more than the sum
  };
  Bit constant(bool value) const { return {recorder_.constant(value), 0, 0, value}; }
  Bit not_of(Bit a) const { return {recorder_.not_of(a.bit), a.low, a.high, !a.complement}; }
  Bit xor_of(Bit a, Bit b);
  Bit and_of(Bit a, Bit b);

  Bits<LinearForm> input(const std::string& name, std::size_t bits);
  void output(const std::string& name, BitSpan<LinearForm> value);

  std::uint64_t ands_of_constants() const { return constants_; }
  Circuit finish() const { return recorder_.finish(); }

 private:
  static bool is_constant(const Bit& a) { return (a.low | a.high) == 0; }
  // An input or an AND.
  Bit symbol(Recorder::Bit bit);
  std::uint64_t draw();

  Recorder recorder_;
  std::uint64_t state_ = 0, constants_ = 0;
};

// How many of its ANDs have an operand that is the same whatever the inputs are.
std::uint64_t ands_of_constants(const Circuit& circuit);
// The same function without them.
Circuit without_constant_operands(const Circuit& circuit);

}  // namespace tkdc::circuit
