// SPDX-License-Identifier: Apache-2.0
// A circuit as this protocol takes it: its schedule, its digest, and where everything stands in T,
// what garblers send ahead.
//
//   T = tables with their keys of π ‖ C_u of every input bit ‖ C_v ‖ C_ρ of every output bit
//       ‖ colours of ρ's zero-labels, a bit each
//   C_w = H(w, label of colour 0) ‖ H(w, label of colour 1), under the tables' first key
//
// Tweaks count on: commitments to u have 0 to n - 1, to v n to 2n - 1, to ρ 2n to 2n + m - 1, gates
// those after. T's first half goes from A, the second from B. Public; one for all instances.
#pragma once

#include <array>

#include "base/result.h"
#include "circuit/schedule.h"
#include "garble/kernel.h"
#include "threegarble/derive.h"

namespace tkdc::threegarble {

inline constexpr std::size_t kCommitmentBytes = 2 * garble::kLabelBytes;

struct Shape {
  circuit::Schedule schedule;
  Digest digest{};
  std::size_t in_bits = 0, out_bits = 0;  // multiples of 8
  std::size_t table_bytes = 0, all_bytes = 0, first_half_bytes = 0;

  std::size_t wires() const { return 2 * in_bits + out_bits; }  // u, v, ρ
  std::uint64_t first_gate_tweak() const { return (wires() + 1) / 2 * 2; }
  // Of a gate, a layer and an output bit. Servers decide by what layouts take, so they compare it.
  static constexpr std::array<std::size_t, 3> kLayoutBytes{sizeof(circuit::ScheduledGate),
                                                           sizeof(circuit::Schedule::Layer),
                                                           sizeof(circuit::Schedule::Output)};
  // Of memory, but for what is the same for all circuits.
  std::size_t layout_bytes() const {
    return schedule.gates.size() * kLayoutBytes[0] + schedule.layers.size() * kLayoutBytes[1] +
           schedule.output_bits.size() * kLayoutBytes[2];
  }
  std::size_t in_bytes() const { return in_bits / 8; }
  std::size_t out_bytes() const { return out_bits / 8; }
  std::size_t commitments_at() const { return table_bytes; }
  std::size_t colours_at() const { return table_bytes + wires() * kCommitmentBytes; }
};

// Of a circuit as a recorder leaves it. Errors: a circuit without an AND, which needs no protocol,
// or with an AND of a constant; inputs or outputs that are not octets; more wires or octets than an
// instance may have (kMostWires, kMostBytes).
inline constexpr std::size_t kMostWires = std::size_t{1} << 17;
inline constexpr std::size_t kMostBytes = std::size_t{256} << 20;
Result<Shape> shape_of(const circuit::Circuit& circuit);

}  // namespace tkdc::threegarble
