// SPDX-License-Identifier: Apache-2.0
// The context that records, and folds while it does: constants vanish, NOT goes through XOR to who
// reads it, equal gates are one, and gates that no output needs are left out at the end.
#pragma once

#include "circuit/circuit.h"

namespace tkdc::circuit {

class Recorder {
 public:
  // A node, or its complement: 2 node + 1.
  struct Bit {
    std::uint32_t literal = 0;
    bool operator==(const Bit&) const = default;
  };
  static constexpr std::size_t kMaxNodes = std::size_t{1} << 28;

  Recorder();

  Bit constant(bool value) const { return {value ? 1u : 0u}; }
  Bit not_of(Bit a) const { return {a.literal ^ 1}; }
  // Throw std::length_error when a circuit has more than kMaxNodes gates.
  Bit xor_of(Bit a, Bit b);
  Bit and_of(Bit a, Bit b);

  // All inputs come before the first gate.
  Bits<Recorder> input(const std::string& name, std::size_t bits);
  void output(const std::string& name, BitSpan<Recorder> value);

  // The circuit of what the outputs need.
  Circuit finish() const;

 private:
  enum class Kind : std::uint8_t { kLeaf, kXor, kAnd };
  // Operands are literals; those of an XOR are never complements.
  struct Node {
    std::uint32_t a, b;
    Kind kind;
    bool operator==(const Node&) const = default;
  };
  Bit node_of(Kind kind, std::uint32_t a, std::uint32_t b);
  // Where in known_ a gate with this hash stands, or where it would be put.
  std::size_t place_of(const Node& node, std::uint32_t hash) const;
  void grow();
  MappedVector<bool> needed() const;

  // A gate's whole hash stands beside it: another gate's node is not looked at, which is far away
  // in memory.
  struct Known {
    std::uint32_t node = 0, hash = 0;  // 0: no gate
  };
  MappedVector<Node> nodes_;   // the constant 0, inputs, gates
  MappedVector<Known> known_;  // gates by their hash, at most half full
  std::size_t gates_ = 0;
  std::vector<Port> inputs_, outputs_;
  std::vector<std::uint32_t> output_literals_;
};

// The same function with the gates that a recorder keeps.
Circuit folded(const Circuit& circuit);

}  // namespace tkdc::circuit
