// SPDX-License-Identifier: Apache-2.0
// A garbler that sends the other label of one input, x_0 of x_0 ∧ x_1, and does everything else as
// it should: the attack that the evaluator's check of colours is for.
#pragma once

#include "pair/pair_parties.h"

namespace tkdc::pair {

inline PairCircuit one_and() {
  circuit::Recorder recorder;
  const auto x = recorder.input("x", 2);
  circuit::Bits<circuit::Recorder> out = {recorder.and_of(x[0], x[1])};
  recorder.output("y", circuit::BitSpan<circuit::Recorder>(out));
  return PairCircuit(circuit::schedule_of(recorder.finish()));
}

inline Result<void> garble_with_a_wrong_label(Session& session, Prepared& prepared,
                                              const Bits& share) {
  auto inputs = exchange_inputs(session, prepared, Inputs().own(share));
  if (!inputs) return inputs.error();
  Labels labels = prepared.input_labels;
  for (std::size_t k = 0; k < labels.size(); ++k)
    labels[k] = labels[k] ^ session.delta().where(inputs->values[k] ^ (k == 0 ? 1u : 0u));
  auto done = session.channel().write_all(std::span<const Label>(labels));
  Bytes values(1);
  Label said;
  if (done) done = session.channel().read(values);
  if (done) done = session.channel().read_all(std::span(&said, 1));
  if (!done) return done;
  Bits outputs;
  const Bits operands =
      operands_of(*prepared.circuit, inputs->values, unpacked(values, 1), outputs);
  const Label digest = mac_digest(session, prepared, operands);
  done = session.channel().write_all(std::span<const Label>(&digest, 1));
  if (done) done = session.tell(prepared.outputs);
  if (!done) return done;
  auto peers = session.hear(prepared.outputs);
  return peers ? Result<void>() : peers.error();
}

// The evaluator's error, for inputs x_0 and x_1; none where the run went through.
inline std::optional<std::string> attack_by_a_label(std::uint8_t x0, std::uint8_t x1) {
  static const PairCircuit circuit = one_and();
  const std::array<Bits, 2> shares = deal(Bits{x0, x1});
  const Outcome outcome = with_sessions(
      [&](Session& session) -> Result<void> {
        auto prepared = prepared_for(session, circuit);
        if (!prepared) return prepared.error();
        return garble_with_a_wrong_label(session, *prepared, shares[0]);
      },
      [&](Session& session) -> Result<void> {
        auto prepared = prepared_for(session, circuit);
        if (!prepared) return prepared.error();
        auto done = compute(session, *prepared, Inputs().own(shares[1]));
        return done ? Result<void>() : done.error();
      });
  return outcome.error[1];
}

}  // namespace tkdc::pair
