// SPDX-License-Identifier: Apache-2.0
// Circuits drawn at random, with everything that folding works on: constants, NOT, gates twice,
// gates for nothing, outputs that are inputs, constants, or the same.
#pragma once

#include "circuit_values.h"

namespace tkdc::circuit {

inline Circuit random_circuit(std::mt19937_64& generator) {
  Circuit circuit;
  const auto below = [&](std::size_t n) { return static_cast<Wire>(generator() % n); };
  for (std::size_t k = 0; k <= below(3); ++k)
    circuit.inputs.push_back({"in" + std::to_string(k), 1 + below(12)});
  const std::size_t gates = below(120);
  for (std::size_t k = 0; k < gates; ++k) {
    const std::size_t wires = circuit.wires();
    // Mostly from the newest wires, so that there is depth.
    const auto operand = [&] {
      return static_cast<Wire>(below(2) == 0 ? below(wires)
                                             : wires - 1 - below(std::min<std::size_t>(wires, 8)));
    };
    Gate gate{static_cast<Op>(below(5))};
    if (gate.op == Op::kZero || gate.op == Op::kOne) gate.op = below(3) == 0 ? gate.op : Op::kXor;
    if (gate.op <= Op::kNot) gate.a = operand();
    if (gate.op <= Op::kAnd) gate.b = operand();
    circuit.gates.push_back(gate);
    if (below(6) == 0) circuit.gates.push_back(gate);
  }
  for (std::size_t k = 0; k <= below(3); ++k)
    circuit.outputs.push_back({"out" + std::to_string(k), 1 + below(6)});
  for (std::size_t k = 0; k < circuit.output_bits(); ++k)
    circuit.output_wires.push_back(below(circuit.wires()));
  return circuit;
}

inline Bits<Plain> random_slices(std::mt19937_64& generator, std::size_t bits) {
  Bits<Plain> out;
  for (std::size_t k = 0; k < bits; ++k) out.push_back(generator());
  return out;
}

// By the schedule: all inputs' bits to all outputs'.
inline Bits<Plain> run_schedule(const Schedule& schedule, const Bits<Plain>& inputs) {
  Bits<Plain> slots(inputs.begin(), inputs.end()), out;
  slots.resize(schedule.slots);
  execute(schedule, slots);
  for (std::size_t k = 0; k < schedule.output_bits.size(); ++k)
    out.push_back(output_slice(schedule, slots, k));
  return out;
}

}  // namespace tkdc::circuit
