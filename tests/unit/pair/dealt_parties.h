// SPDX-License-Identifier: Apache-2.0
// Two servers and an agent that deals its input to them: the S-box with a pad, 8 bits of input and
// 8 of pad. And what a server may try with it; dealt_test.cc has it refused, unchecked_test.cc
// done.
#pragma once

#include "pair/keys_parties.h"

namespace tkdc::pair {

inline const PairCircuit& padded_sbox() {
  static const PairCircuit circuit(
      circuit::schedule_of(with_pad(circuits::record(*circuits::find_named("aes-sbox")))));
  return circuit;
}

struct Job {
  explicit Job(std::uint64_t seed = 1) {
    std::mt19937_64 generator(seed);
    input = random_bits(generator, 8);
    pad = random_bits(generator, 8);
    Bits secret = input;
    secret.insert(secret.end(), pad.begin(), pad.end());
    dealt = deal_input(secret, Label{}, draw_coin());
    expected = in_the_clear(circuit_named("aes-sbox"), input);
  }

  // One server's part.
  Result<void> serve(Session& session, int p) {
    auto prepared = prepared_for(session, padded_sbox());
    if (!prepared) return prepared.error();
    online_at[p] = session.channel().sent();
    dealt[static_cast<std::size_t>(p)].session = session.id();
    Inputs inputs(std::move(dealt[static_cast<std::size_t>(p)]));
    auto done = compute(session, *prepared, inputs.dealt(16));
    stands[p] = session.stands().ok();
    went[p] = done.went();
    if (!done) error[p] = done.error().message;
    if (!done && !stands[p]) return done.error();
    if (done) outputs[p] = std::move(*done);
    return {};
  }
  Outcome& run(int cheat = 0, Change change = {}) {
    return outcome =
               with_sessions([&](Session& session) { return serve(session, 0); },
                             [&](Session& session) { return serve(session, 1); }, cheat, change);
  }

  // What the agent takes; nothing where it takes nothing.
  Bits taken() const {
    auto y = output_of_both(outputs[0], outputs[1], pad);
    return y ? *y : Bits();
  }

  void expect_dropped() const {
    for (const int p : {0, 1}) {
      EXPECT_NE(error[p].find("dropped"), std::string::npos) << p << error[p];
      EXPECT_TRUE(stands[p]) << p;
      EXPECT_EQ(went[p], Went::kDropped) << p;
    }
  }

  Bits input, pad, expected, outputs[2];
  std::array<Dealt, 2> dealt;
  Outcome outcome;
  std::uint64_t online_at[2] = {0, 0};
  bool stands[2] = {false, false};
  Went went[2] = {Went::kRefused, Went::kRefused};
  std::string error[2];
};

// A server enters its share of the pad with a bit flipped, and proves that, with the tags it has.
struct FlippedPad {
  bool taken = false;   // the agent took an output, with that bit of it flipped
  bool stands = false;  // the honest server's session
};
inline FlippedPad flip_a_bit_of_the_pad(int cheat) {
  Job job;
  job.dealt[static_cast<std::size_t>(cheat)].share[8] ^= 1;
  job.run();
  Bits flipped = job.expected;
  flipped[0] ^= 1;
  return {job.taken() == flipped, job.stands[1 - cheat]};
}

// The evaluator's messages up to its proof, by hand: `change` is done to what it proves. Its coin.
inline Result<Label> rogue_to_its_proof(Session& session, const Prepared& prepared, Inputs& inputs,
                                        const std::function<void(Proved&)>& change) {
  auto entered = exchange_inputs(session, prepared, inputs);
  if (!entered) return entered.error();
  auto evaluated = evaluate(session, prepared, entered->values);
  if (!evaluated) return evaluated.error();
  ot::Channel& channel = session.channel();
  Label garblers_coin;
  auto done = channel.read_all(std::span(&garblers_coin, 1));
  const Label coin = draw_coin();
  change(*entered->dealt);
  const Proof proof = prove(*entered->dealt, garblers_coin);
  if (done) done = channel.write_all(std::span<const Label>(&coin, 1));
  if (done) done = channel.write_all(std::span<const Proof>(&proof, 1));
  if (done) done = channel.write(packed(evaluated->values));
  if (done) done = channel.write_all(std::span<const Label>(&evaluated->digest, 1));
  return done ? Result<Label>(coin) : done.error();
}

// The evaluator enters its share of the pad with a bit flipped, and proves the one that it was
// dealt: what the agent's tags are for.
struct OtherProof {
  bool passed = false;  // the garbler's verdict
  EndedBy ended = EndedBy::kNothing;
};
inline OtherProof enter_one_share_and_prove_another() {
  OtherProof out;
  Job job;
  const SessionBody garbler = [&](Session& session) -> Result<void> {
    auto served = job.serve(session, 0);
    out.ended = session.ended_by();
    return served;
  };
  const SessionBody rogue = [&](Session& session) -> Result<void> {
    auto prepared = prepared_for(session, padded_sbox());
    if (!prepared) return prepared.error();
    job.dealt[1].session = session.id();
    job.dealt[1].share[8] ^= 1;
    Inputs inputs(std::move(job.dealt[1]));
    auto coin = rogue_to_its_proof(session, *prepared, inputs.dealt(16), [](Proved& proved) {
      proved.in_session[0].own.low ^= std::uint64_t{1} << 8;
    });
    if (!coin) return coin.error();
    std::uint8_t verdict = 0;
    auto got = session.channel().read({&verdict, 1});
    out.passed = got && verdict == 1;
    return got ? fail("it has what it wanted") : got;
  };
  (void)with_sessions(garbler, rogue);
  return out;
}

// A job is dropped after both proofs, and the agent "tries again" with what it dealt. The evaluator
// divides the difference of two proofs by that of its coins, and has the garbler's share.
struct ReadTwice {
  bool share = false;
  std::string refusal;
  Went went = Went::kDone;
};

// `in_octets`: it sends them again, instead of a server's using again what it has.
inline ReadTwice use_a_deal_twice(bool in_octets = false) {
  ReadTwice out;
  Job job;
  const Labels wanted = elements_of(job.dealt[0].share);
  const SessionBody garbler = [&](Session& session) -> Result<void> {
    job.dealt[0].session = session.id();
    const SecretVector octets = put_dealt(job.dealt[0]);
    Inputs inputs(std::move(job.dealt[0]));
    inputs.dealt(16);
    for (int turn = 0; turn < 2; ++turn) {
      auto prepared = prepared_for(session, padded_sbox());
      if (!prepared) return prepared.error();
      auto anew = get_dealt(octets, 16);
      Inputs again(std::move(*anew));
      auto done = compute(session, *prepared, in_octets ? again.dealt(16) : inputs);
      if (!done) out.refusal = done.error().message;
      out.went = done.went();
    }
    return {};
  };
  const SessionBody rogue = [&](Session& session) -> Result<void> {
    Label coins[2], values[2];
    job.dealt[1].session = session.id();
    const SecretVector octets = put_dealt(job.dealt[1]);
    for (int turn = 0; turn < 2; ++turn) {
      auto prepared = prepared_for(session, padded_sbox());
      if (!prepared) return prepared.error();
      auto anew = get_dealt(octets, 16);
      randombytes_buf(&anew->number, sizeof anew->number);  // the rogue's own check passes
      Inputs inputs(std::move(*anew));
      auto coin = rogue_to_its_proof(session, *prepared, inputs.dealt(16), [](Proved&) {});
      if (!coin) return coin.error();
      coins[turn] = *coin;
      ot::Channel& channel = session.channel();
      std::uint8_t verdict = 0;
      Proof peers;
      Label digest;
      auto done = channel.read_all(std::span(&verdict, 1));
      if (done) done = channel.read_all(std::span(&peers, 1));
      if (done) done = channel.read_all(std::span(&digest, 1));
      if (!done) return done;
      values[turn] = peers.value;
      if (auto heard = session.hear(prepared->outputs); !heard) return heard.error();
      verdict = 0;
      if (auto sent = channel.write_all(std::span<const std::uint8_t>(&verdict, 1)); !sent)
        return sent;
    }
    const Label share = ot::field().product(values[0] ^ values[1], inverse_of(coins[0] ^ coins[1]));
    out.share = share == wanted[0];
    return {};
  };
  (void)with_sessions(garbler, rogue);
  return out;
}

}  // namespace tkdc::pair
