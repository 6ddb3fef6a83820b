// SPDX-License-Identifier: Apache-2.0
#include "circuit/circuit.h"

namespace tkdc::circuit {

bool is_sound(const Circuit& circuit) {
  std::size_t wire = circuit.input_bits();
  for (const Gate& gate : circuit.gates) {
    const bool two = gate.op == Op::kXor || gate.op == Op::kAnd;
    if ((two || gate.op == Op::kNot) && gate.a >= wire) return false;
    if (two && gate.b >= wire) return false;
    ++wire;
  }
  return circuit.output_wires.size() == circuit.output_bits() &&
         std::all_of(circuit.output_wires.begin(), circuit.output_wires.end(),
                     [wire](Wire one) { return one < wire; });
}

GateCounts counts_of(const Circuit& circuit) {
  GateCounts counts;
  std::vector<std::uint32_t> depth(circuit.input_bits(), 0);
  depth.reserve(circuit.wires());
  for (const Gate& gate : circuit.gates) {
    std::uint32_t reached = 0;
    if (gate.op == Op::kXor || gate.op == Op::kAnd) {
      const bool is_and = gate.op == Op::kAnd;
      reached = std::max(depth[gate.a], depth[gate.b]) + (is_and ? 1 : 0);
      ++(is_and ? counts.ands : counts.xors);
    } else if (gate.op == Op::kNot) {
      reached = depth[gate.a];
      ++counts.nots;
    }
    counts.and_depth = std::max(counts.and_depth, reached);
    depth.push_back(reached);
  }
  return counts;
}

}  // namespace tkdc::circuit
