// SPDX-License-Identifier: Apache-2.0
// What a garbler leaves on its stack: no Δ of a session that is over. An evaluator leaves none
// while its session goes on either, so nothing could be shown of it here.
#include "pair/leaky_and.h"
#include "pair/pair_parties.h"
#include "support/own_stack.h"

namespace tkdc::pair {
namespace {

class DeltaOnTheStack : public testing::Test {
 protected:
  // The garbler's body on a stack of its own, the evaluator's on its thread's.
  Outcome run(const std::function<Result<void>(ot::Channel&, Side, OwnStack&)>& watched,
              const SessionBody& other) {
    const auto party = [&](int p) {
      return [&, p](ot::Channel& channel) -> Result<void> {
        const Side side = p == 0 ? Side::kGarbler : Side::kEvaluator;
        if (side == Side::kGarbler) return watched(channel, side, stack_);
        auto session = Session::create(channel, side, kContext, small_batches());
        return session ? other(**session) : session.error();
      };
    };
    return ot::run_parties(party(0), party(1), 0, {});
  }

  OwnStack stack_;
  garble::SecretLabels delta_{1};
};

TEST_F(DeltaOnTheStack, GoesWithTheSession) {
  const PairCircuit circuit = circuit_named("aes-sbox");
  const std::array<Bits, 2> shares = deal(Bits(8));
  const auto computes = [&](Session& session) -> Result<void> {
    auto prepared = prepared_for(session, circuit);
    if (!prepared) return prepared.error();
    auto done = compute(session, *prepared, Inputs().own(shares[static_cast<int>(session.side())]));
    return done ? Result<void>() : done.error();
  };
  bool before = false;
  const auto watched = [&](ot::Channel& channel, Side side, OwnStack& stack) -> Result<void> {
    Result<void> done;
    stack.run([&] {
      auto session = Session::create(channel, side, kContext, small_batches());
      if (session) delta_.span()[0] = (*session)->delta();
      done = session ? computes(**session) : session.error();
      before = stack.has(delta_.span()[0]);
    });
    return done;
  };
  const Outcome outcome = run(watched, computes);
  EXPECT_TRUE(outcome.ok());
  EXPECT_TRUE(before) << "the control: it is there while the session goes on";
  EXPECT_FALSE(stack_.has(delta_.span()[0]));
}

}  // namespace
}  // namespace tkdc::pair
