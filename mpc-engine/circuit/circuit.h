// SPDX-License-Identifier: Apache-2.0
// A circuit as data. Wires are numbered: first the inputs' bits, value by value, then one for each
// gate in order; a gate's operands have smaller numbers. The recorder (recorder.h) and Bristol
// Fashion (bristol.h) make circuits; schedule.h turns one into what is executed.
#pragma once

#include "base/mapped_vector.h"
#include "circuit/counter.h"

namespace tkdc::circuit {

using Wire = std::uint32_t;
inline constexpr Wire kNoWire = ~Wire{0};

enum class Op : std::uint8_t { kXor, kAnd, kNot, kZero, kOne };  // kNot has a only; the last none

struct Gate {
  Op op;
  Wire a = 0, b = 0;
  bool operator==(const Gate&) const = default;
};

// Who gives or takes how many bits.
struct Port {
  std::string name;
  std::size_t bits;
  bool operator==(const Port&) const = default;
};

struct Circuit {
  std::vector<Port> inputs, outputs;
  MappedVector<Gate> gates;
  std::vector<Wire> output_wires;  // of all outputs, value by value

  std::size_t input_bits() const { return total(inputs); }
  std::size_t output_bits() const { return total(outputs); }
  std::size_t wires() const { return input_bits() + gates.size(); }
  bool operator==(const Circuit&) const = default;

  static std::size_t total(const std::vector<Port>& ports) {
    std::size_t bits = 0;
    for (const Port& port : ports) bits += port.bits;
    return bits;
  }
};

// Whether operands come before their gates, and outputs are wires. Every maker of circuits here
// keeps it; those who put one together by hand can ask.
bool is_sound(const Circuit& circuit);

// Of the gates as they stand.
GateCounts counts_of(const Circuit& circuit);

// Runs a circuit in a context: the bits of all inputs, then those of all outputs.
template <Context C>
Bits<C> apply(C& c, const Circuit& circuit, BitSpan<C> inputs) {
  assert(inputs.size() == circuit.input_bits());
  MappedVector<typename C::Bit> wires(inputs.begin(), inputs.end());
  wires.reserve(circuit.wires());
  for (const Gate& gate : circuit.gates) switch (gate.op) {
      case Op::kXor: wires.push_back(c.xor_of(wires[gate.a], wires[gate.b])); break;
      case Op::kAnd: wires.push_back(c.and_of(wires[gate.a], wires[gate.b])); break;
      case Op::kNot: wires.push_back(c.not_of(wires[gate.a])); break;
      case Op::kZero:
      case Op::kOne: wires.push_back(c.constant(gate.op == Op::kOne)); break;
    }
  Bits<C> out;
  for (const Wire wire : circuit.output_wires) out.push_back(wires[wire]);
  return out;
}

}  // namespace tkdc::circuit
