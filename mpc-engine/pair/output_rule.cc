// SPDX-License-Identifier: Apache-2.0
#include "pair/output_rule.h"

#include "circuit/recorder.h"
#include "pair/auth_block.h"

namespace tkdc::pair {

circuit::Circuit with_pad(const circuit::Circuit& circuit, const PadRule& rule) {
  circuit::Recorder recorder;
  circuit::Bits<circuit::Recorder> inputs;
  for (const circuit::Port& port : circuit.inputs) {
    const auto bits = recorder.input(port.name, port.bits);
    inputs.insert(inputs.end(), bits.begin(), bits.end());
  }
  const auto width = [&](std::size_t output) {
    const std::size_t bits = circuit.outputs[output].bits;
    return rule.whole_blocks ? kBlockBits * blocks_for(bits) : bits;
  };
  std::size_t masked = 0;
  for (std::size_t k = rule.bare; k < circuit.outputs.size(); ++k) masked += width(k);
  const auto pad = recorder.input("pad", masked);
  const auto values =
      circuit::apply(recorder, circuit, circuit::BitSpan<circuit::Recorder>(inputs));
  auto value = values.begin();
  auto mask = pad.begin();
  for (std::size_t k = 0; k < circuit.outputs.size(); ++k) {
    circuit::Bits<circuit::Recorder> out(
        value, value + static_cast<std::ptrdiff_t>(circuit.outputs[k].bits));
    value += static_cast<std::ptrdiff_t>(out.size());
    if (k >= rule.bare) {
      out.resize(width(k), recorder.constant(false));
      for (auto& bit : out) bit = recorder.xor_of(bit, *mask++);
    }
    recorder.output(circuit.outputs[k].name, circuit::BitSpan<circuit::Recorder>(out));
  }
  return recorder.finish();
}

}  // namespace tkdc::pair
