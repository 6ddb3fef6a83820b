// SPDX-License-Identifier: Apache-2.0
#include "pair/output_rule.h"

#include "circuit/recorder.h"

namespace tkdc::pair {

circuit::Circuit with_pad(const circuit::Circuit& circuit) {
  circuit::Recorder recorder;
  circuit::Bits<circuit::Recorder> inputs;
  for (const circuit::Port& port : circuit.inputs) {
    const auto bits = recorder.input(port.name, port.bits);
    inputs.insert(inputs.end(), bits.begin(), bits.end());
  }
  const auto pad = recorder.input("pad", circuit.output_bits());
  const auto values =
      circuit::apply(recorder, circuit, circuit::BitSpan<circuit::Recorder>(inputs));
  std::size_t at = 0;
  for (const circuit::Port& port : circuit.outputs) {
    circuit::Bits<circuit::Recorder> padded;
    for (std::size_t k = 0; k < port.bits; ++k, ++at)
      padded.push_back(recorder.xor_of(values[at], pad[at]));
    recorder.output(port.name, circuit::BitSpan<circuit::Recorder>(padded));
  }
  return recorder.finish();
}

std::array<Bits, 2> deal(std::span<const std::uint8_t> secret) {
  std::array<Bits, 2> shares{Bits(secret.size()), Bits(secret.begin(), secret.end())};
  if (!secret.empty()) randombytes_buf(shares[0].data(), shares[0].size());
  for (std::size_t k = 0; k < secret.size(); ++k) {
    shares[0][k] &= 1;
    shares[1][k] ^= shares[0][k];
  }
  return shares;
}

Result<Bits> combine(std::span<const std::uint8_t> from_garbler,
                     std::span<const std::uint8_t> from_evaluator,
                     std::span<const std::uint8_t> pad) {
  if (from_garbler.size() != pad.size() || from_evaluator.size() != pad.size() ||
      sodium_memcmp(from_garbler.data(), from_evaluator.data(), pad.size()) != 0)
    return fail(
        "pair: the two servers answer differently: one of them does not follow the protocol");
  Bits out(pad.begin(), pad.end());
  for (std::size_t k = 0; k < out.size(); ++k) out[k] ^= from_garbler[k];
  return out;
}

}  // namespace tkdc::pair
