// SPDX-License-Identifier: Apache-2.0
// An evaluator that flips one masked value: the attack that the garbler's check of labels is for.
//
// The circuit is (x_0 ∧ x_1) ∧ x_2. It tells the garbler Λ of the first AND's output flipped. A
// garbler that believes it makes its MACs on c_1 = 1 and c_2 = x_2, and a digest over both. The
// rogue knows what that digest is for either x_2, because it has the keys, and so reads x_2.
#pragma once

#include <optional>

#include "pair/pair_parties.h"

namespace tkdc::pair {

inline PairCircuit chain_of_two() {
  circuit::Recorder recorder;
  const auto x = recorder.input("x", 3);
  const auto first = recorder.and_of(x[0], x[1]);
  circuit::Bits<circuit::Recorder> out = {recorder.and_of(first, x[2])};
  recorder.output("y", circuit::BitSpan<circuit::Recorder>(out));
  return PairCircuit(circuit::schedule_of(recorder.finish()));
}

// What the garbler's digest would be if the flipped gate's neighbour has the value `guess`.
inline Label digest_if(const Session& session, const Prepared& prepared, const Bits& operands,
                       std::size_t neighbour, std::uint64_t guess) {
  LabelDigest digest(prepared.digest_seed ^ Label{0, 2});
  Labels labels(prepared.gates.size());
  for (std::size_t g = 0; g < labels.size(); ++g) {
    const std::uint64_t a = operands[3 * g], b = operands[3 * g + 1], c = operands[3 * g + 2];
    const GateMasks& masks = prepared.gates[g];
    const AuthBit zero =
        session.deltas().plus(masks.c ^ masks.b.where(a) ^ masks.a.where(b), (a & b) ^ c);
    // The garbler's bit differs from the own one by what the gate is wrong by.
    labels[g] = session.deltas().expected(zero, zero.own() ^ (g == neighbour ? guess : 1));
  }
  digest.add(labels);
  return digest.take();
}

// Does everything but the flip as it should. What it read of x_2, if anything.
inline Result<std::optional<std::uint8_t>> flip_one(Session& session, Prepared& prepared,
                                                    const Bits& share) {
  auto inputs = exchange_inputs(session, prepared, Inputs().own(share));
  if (!inputs) return inputs.error();
  auto evaluated = evaluate(session, prepared, inputs->values);
  if (!evaluated) return evaluated.error();
  evaluated->values[0] ^= 1;
  auto sent = session.channel().write(packed(evaluated->values));
  if (sent) sent = session.channel().write_all(std::span<const Label>(&evaluated->digest, 1));
  if (!sent) return sent.error();
  Label said;
  if (auto got = session.channel().read_all(std::span(&said, 1)); !got)
    return std::optional<std::uint8_t>();  // nothing has left the garbler
  Bits outputs;
  const Bits operands = operands_of(*prepared.circuit, inputs->values, evaluated->values, outputs);
  for (const std::uint8_t guess : {0, 1})
    if (digest_if(session, prepared, operands, 1, guess) == said)
      return std::optional<std::uint8_t>(guess);
  return fail("the garbler's digest is none of both");
}

// Against an honest garbler's program: what the rogue read, and the garbler's error.
struct Flipped {
  std::optional<std::uint8_t> read;
  std::optional<std::string> garblers_error, rogues_error;
};
inline Flipped attack_by_flip(const Bits& inputs) {
  static const PairCircuit circuit = chain_of_two();
  const std::array<Bits, 2> shares = deal(inputs);
  Flipped out;
  const Outcome outcome = with_sessions(
      [&](Session& session) -> Result<void> {
        auto prepared = prepared_for(session, circuit);
        if (!prepared) return prepared.error();
        auto done = compute(session, *prepared, Inputs().own(shares[0]));
        return done ? Result<void>() : done.error();
      },
      [&](Session& session) -> Result<void> {
        auto prepared = prepared_for(session, circuit);
        if (!prepared) return prepared.error();
        auto read = flip_one(session, *prepared, shares[1]);
        if (!read) return read.error();
        out.read = *read;
        return {};
      });
  out.garblers_error = outcome.error[0];
  out.rogues_error = outcome.error[1];
  return out;
}

}  // namespace tkdc::pair
