// SPDX-License-Identifier: Apache-2.0
#include "circuit/evaluate.h"

namespace tkdc::circuit {
namespace {

Slice operand(std::span<const Slice> slots, std::uint32_t which) {
  const Slice complement = Slice{0} - (which >> 31);
  return slots[which & ~ScheduledGate::kComplement] ^ complement;
}

}  // namespace

void execute(const Schedule& schedule, std::span<Slice> slots) {
  assert(slots.size() == schedule.slots);
  const ScheduledGate* gate = schedule.gates.data();
  for (const Schedule::Layer& layer : schedule.layers) {
    for (std::uint32_t k = 0; k < layer.xors; ++k, ++gate)
      slots[gate->out] = slots[gate->a] ^ slots[gate->b];
    for (std::uint32_t k = 0; k < layer.ands; ++k, ++gate)
      slots[gate->out] = operand(slots, gate->a) & operand(slots, gate->b);
  }
}

Slice output_slice(const Schedule& schedule, std::span<const Slice> slots, std::size_t k) {
  const Schedule::Output& output = schedule.output_bits[k];
  const Slice value = output.slot == Schedule::Output::kConstant ? 0 : slots[output.slot];
  return output.complement ? ~value : value;
}

std::vector<SecretSlices> evaluate(const Schedule& schedule, std::span<const SecretSlices> inputs) {
  assert(inputs.size() == schedule.inputs.size());
  SecretSlices slots(schedule.slots);
  std::size_t at = 0;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    assert(inputs[k].size() == schedule.inputs[k].bits);
    for (const Slice slice : inputs[k]) slots[at++] = slice;
  }
  execute(schedule, slots);
  std::vector<SecretSlices> outputs;
  at = 0;
  for (const Port& port : schedule.outputs) {
    SecretSlices& value = outputs.emplace_back(port.bits);
    for (Slice& slice : value) slice = output_slice(schedule, slots, at++);
  }
  return outputs;
}

}  // namespace tkdc::circuit
