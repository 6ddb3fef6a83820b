// SPDX-License-Identifier: Apache-2.0
// Two parties with a session between them, and a circuit computed from shares.
#pragma once

#include <random>

#include "circuit/evaluate.h"
#include "circuits/catalogue.h"
#include "ot/two_parties.h"
#include "pair/online.h"
#include "pair/output_rule.h"

namespace tkdc::pair {

using ot::Change;
using ot::Outcome;

inline const Bytes kContext = {'p', 'a', 'i', 'r'};

inline ot::ExtensionOptions small_batches() {
  ot::ExtensionOptions options;
  options.batch_blocks = ot::kBlocksAtOnce;
  return options;
}

using SessionBody = std::function<Result<void>(Session&)>;

// Party 0 garbles.
inline Outcome with_sessions(const SessionBody& garbler, const SessionBody& evaluator,
                             int cheat = 0, Change change = {},
                             const ot::ExtensionOptions& options = small_batches()) {
  const auto party = [&](Side side, const SessionBody& body) {
    return [&, side](ot::Channel& channel) -> Result<void> {
      auto session = Session::create(channel, side, kContext, options);
      return session ? body(**session) : session.error();
    };
  };
  return ot::run_parties(party(Side::kGarbler, garbler), party(Side::kEvaluator, evaluator), cheat,
                         change);
}

inline PairCircuit circuit_named(std::string_view name) {
  return PairCircuit(circuit::schedule_of(circuits::record(*circuits::find_named(name))));
}

inline Bits random_bits(std::mt19937_64& generator, std::size_t count) {
  Bits out(count);
  for (std::uint8_t& bit : out) bit = generator() & 1;
  return out;
}

// All of a job but its online phase.
inline Result<Prepared> prepared_for(Session& session, const PairCircuit& circuit) {
  auto ands = make_ands(session, circuit.ands);
  if (!ands) return ands.error();
  auto masks = session.draw(masks_of(circuit));
  if (!masks) return masks.error();
  return prepare(session, circuit, *ands, *masks);
}

// What both computed, and where each of a party's phases begins in what it sent.
struct Computed {
  Bits outputs[2];
  std::uint64_t ahead_at[2] = {0, 0}, online_at[2] = {0, 0};
};

inline Outcome compute_pair(const PairCircuit& circuit, const Bits& inputs, Computed& out,
                            int cheat = 0, Change change = {}) {
  const std::array<Bits, 2> shares = deal(inputs);
  const auto body = [&](int p) {
    return [&, p](Session& session) -> Result<void> {
      out.ahead_at[p] = session.channel().sent();
      auto prepared = prepared_for(session, circuit);
      if (!prepared) return prepared.error();
      out.online_at[p] = session.channel().sent();
      auto outputs = compute(session, *prepared, Inputs().own(shares[static_cast<std::size_t>(p)]));
      if (!outputs) return outputs.error();
      out.outputs[p] = std::move(*outputs);
      return {};
    };
  };
  return with_sessions(body(0), body(1), cheat, change);
}

// The circuit in the clear.
inline Bits in_the_clear(const PairCircuit& circuit, const Bits& inputs) {
  circuit::SecretSlices slots(circuit.schedule.slots);
  for (std::size_t k = 0; k < inputs.size(); ++k)
    slots[k] = 0 - static_cast<circuit::Slice>(inputs[k]);
  circuit::execute(circuit.schedule, slots);
  Bits out;
  for (std::size_t k = 0; k < circuit.schedule.output_bits.size(); ++k)
    out.push_back(circuit::output_slice(circuit.schedule, slots, k) & 1);
  return out;
}

}  // namespace tkdc::pair
