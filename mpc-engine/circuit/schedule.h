// SPDX-License-Identifier: Apache-2.0
// A circuit as it is executed: gates in AND layers, values in slots.
//
// Layer by layer, XORs come first, then ANDs that do not depend on each other: whoever garbles or
// evaluates takes a layer's ANDs as one batch. NOT is no gate: a flag at the reader's operand, or
// at an output. A slot is used again when its value has been read for the last time, so memory is
// the live wires; slots used in a layer's ANDs are given back after the layer. A gate takes 12
// octets. Parts of at most kPartAnds ANDs bound a batch of tables; all parts share the slots.
// `slots` of one instance may begin anywhere, so one schedule serves many instances.
#pragma once

#include "circuit/circuit.h"

namespace tkdc::circuit {

inline constexpr std::size_t kPartAnds = std::size_t{1} << 16;

struct ScheduledGate {
  // Slots; of an AND's operands, the top bit says that the complement is meant.
  static constexpr std::uint32_t kComplement = std::uint32_t{1} << 31;
  std::uint32_t a, b, out;
};
static_assert(sizeof(ScheduledGate) == 12);

struct Schedule {
  struct Layer {
    std::uint32_t xors = 0, ands = 0;  // the layer's gates: these XORs, then these ANDs
  };
  struct Part {
    std::uint32_t layers = 0;
    std::uint32_t xors = 0, ands = 0;
  };
  struct Output {
    static constexpr std::uint32_t kConstant = ~std::uint32_t{0};  // in place of a slot: zero
    std::uint32_t slot;
    bool complement;
  };

  std::vector<Port> inputs, outputs;  // inputs stand in slots 0, 1, ... at the beginning
  std::uint32_t slots = 0;
  MappedVector<ScheduledGate> gates;
  std::vector<Layer> layers;
  std::vector<Part> parts;
  std::vector<Output> output_bits;
};

// Of a circuit as a recorder leaves it (recorder.h): folded, complements at operands of ANDs. Of
// the earliest and the latest AND layers that the depth allows, those that need fewer slots.
Schedule schedule_of_folded(const Circuit& circuit);
// Folds any circuit first.
Schedule schedule_of(const Circuit& circuit);

}  // namespace tkdc::circuit
