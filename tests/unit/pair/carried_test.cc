// SPDX-License-Identifier: Apache-2.0
// Public inputs, and an output of one circuit that is an input of the next and is told to nobody.
#include "pair/carried.h"

#include "pair/dealt_parties.h"

namespace tkdc::pair {
namespace {

const PairCircuit& sbox() {
  static const PairCircuit circuit = circuit_named("aes-sbox");
  return circuit;
}

TEST(PairKnown, EntersAsItIs) {
  std::mt19937_64 generator(1);
  const Bits x = random_bits(generator, 8);
  Bits outputs[2];
  const auto body = [&](std::size_t p) {
    return [&, p](Session& session) -> Result<void> {
      auto prepared = prepared_for(session, sbox());
      if (!prepared) return prepared.error();
      auto out = compute(session, *prepared, Inputs().known(x));
      if (!out) return out.error();
      outputs[p] = *out;
      return {};
    };
  };
  EXPECT_TRUE(with_sessions(body(0), body(1)).ok());
  EXPECT_EQ(outputs[0], in_the_clear(sbox(), x));
  EXPECT_EQ(outputs[1], outputs[0]);
}

// Either server, any bit: what it says then has no MAC, and what it looks at has none either. Who
// finds it first ends the session for both.
TEST(PairKnown, AnotherValueAtOneOfBothEndsTheSession) {
  std::mt19937_64 generator(2);
  for (const std::size_t cheat : {0, 1}) {
    const Bits x = random_bits(generator, 8);
    EndedBy ended[2] = {EndedBy::kNothing, EndedBy::kNothing};
    const auto body = [&](std::size_t p) {
      return [&, p](Session& session) -> Result<void> {
        auto prepared = prepared_for(session, sbox());
        if (!prepared) return prepared.error();
        Bits own = x;
        if (p == cheat) own[5] ^= 1;
        auto out = compute(session, *prepared, Inputs().known(own));
        EXPECT_FALSE(out.ok());
        ended[p] = session.ended_by();
        return out ? Result<void>() : out.error();
      };
    };
    with_sessions(body(0), body(1));
    EXPECT_TRUE(ended[0] == EndedBy::kCheck || ended[1] == EndedBy::kCheck);
  }
}

// S(S(x)) of a dealt x; `lies`: who moves r by another d.
struct Twice {
  Bits input, d[2], outputs[2];
  EndedBy ended[2] = {EndedBy::kNothing, EndedBy::kNothing};
  std::size_t again = 1;
};
Twice run_twice(std::uint64_t seed, std::optional<std::size_t> lies = std::nullopt) {
  Twice out;
  std::mt19937_64 generator(seed);
  out.input = random_bits(generator, 8);
  std::array<Dealt, 2> dealt = deal_input(out.input, Label{}, draw_coin());
  const auto body = [&](std::size_t p) {
    return [&, p](Session& session) -> Result<void> {
      auto first = prepared_for(session, padded_sbox());
      auto second = first ? prepared_for(session, sbox()) : Result<Prepared>(first.error());
      auto carried = second ? Carried::draw(session, 8) : Result<Carried>(second.error());
      if (!carried) return carried.error();
      dealt[p].session = session.id();
      Inputs inputs(std::move(dealt[p]));
      auto d = compute(session, *first, inputs.dealt(8).held(carried->take()));
      if (!d) return d.error();
      if (p == 0) out.again = carried->take().size();
      out.d[p] = *d;
      if (lies == p) (*d)[3] ^= 1;
      auto y = std::move(*carried).moved_by(session, *d);
      if (!y) return y.error();
      auto outputs = compute(session, *second, Inputs().held(*y));
      out.ended[p] = session.ended_by();
      if (!outputs) return outputs.error();
      out.outputs[p] = *outputs;
      return {};
    };
  };
  const Outcome outcome = with_sessions(body(0), body(1));
  EXPECT_EQ(outcome.ok(), !lies) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
  return out;
}

TEST(PairCarried, AnOutputEntersTheNextCircuitAndIsNotSeen) {
  std::size_t seen = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Twice twice = run_twice(seed);
    const Bits between = in_the_clear(sbox(), twice.input);
    EXPECT_EQ(twice.outputs[0], in_the_clear(sbox(), between));
    EXPECT_EQ(twice.outputs[1], twice.outputs[0]);
    EXPECT_EQ(twice.d[0], twice.d[1]);
    EXPECT_EQ(twice.again, 0u) << "r serves once";
    seen += twice.d[0] == between;
  }
  EXPECT_LT(seen, 4u);
}

TEST(PairCarried, WhoCarriesAnotherValueIsFound) {
  for (const std::size_t cheat : {0, 1}) {
    const Twice twice = run_twice(7, cheat);
    EXPECT_TRUE(twice.ended[0] == EndedBy::kCheck || twice.ended[1] == EndedBy::kCheck);
    EXPECT_TRUE(twice.outputs[0].empty() && twice.outputs[1].empty());
  }
}

TEST(PairCarried, RefusesAnotherLength) {
  const auto body = [](Session& session) -> Result<void> {
    auto carried = Carried::draw(session, 8);
    if (!carried) return carried.error();
    EXPECT_FALSE(std::move(*carried).moved_by(session, Bits(7)).ok());
    return {};
  };
  EXPECT_TRUE(with_sessions(body, body).ok());
}

}  // namespace
}  // namespace tkdc::pair
