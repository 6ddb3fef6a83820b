// SPDX-License-Identifier: Apache-2.0
// What has to come before what: a changed party takes one place, message by message, and the honest
// one must not have said what it should not, or must name the end rightly.
#include "pair/pair_parties.h"

namespace tkdc::pair {
namespace {

struct Ended {
  bool lost = false;
  std::string why;
  EndedBy by = EndedBy::kNothing;
  std::uint64_t sent = 0;  // since the rogue's turn began
};

// The honest party's equality of zeros against `rogue`, on the raw channel.
Ended equality_against(Side honest, const std::function<Result<void>(ot::Channel&)>& rogue,
                       Verdict verdict = Verdict::kOnGuesses) {
  Ended out;
  const SessionBody checks = [&](Session& session) -> Result<void> {
    const std::uint64_t before = session.channel().sent();
    auto done = session.equal({}, verdict);
    out.by = session.ended_by();
    out.lost = session.lost_in_check();
    out.sent = session.channel().sent() - before;
    if (!done) out.why = done.error().message;
    return done;
  };
  const SessionBody cheats = [&](Session& session) { return rogue(session.channel()); };
  (void)(honest == Side::kGarbler ? with_sessions(checks, cheats) : with_sessions(cheats, checks));
  return out;
}

Result<void> hears_and_breaks(ot::Channel& channel) {
  Digest told{};
  if (auto sent = channel.write(told); !sent) return sent;
  if (auto got = channel.read(told); !got) return got;
  return fail("broken, it says");
}

// It hears the garbler's value, does not like it, and its link "breaks".
TEST(PairOrder, ALinkThatBreaksAfterTheGarblersTellingIsACheckThatFailed) {
  const Ended ended = equality_against(Side::kGarbler, hears_and_breaks);
  EXPECT_EQ(ended.by, EndedBy::kCheck);
  EXPECT_TRUE(ended.lost);
  EXPECT_NE(ended.why.find("does not open"), std::string::npos);
}

// What it has opened it knows, so the garbler's value tells it nothing.
TEST(PairOrder, OfOpeningsAloneALinkThatBreaksThereIsALink) {
  const Ended ended = equality_against(Side::kGarbler, hears_and_breaks, Verdict::kOnOpenings);
  EXPECT_EQ(ended.by, EndedBy::kLink);
  EXPECT_FALSE(ended.lost);
}

TEST(PairOrder, ALinkThatBreaksBeforeItIsALink) {
  const Ended ended =
      equality_against(Side::kGarbler, [](ot::Channel&) -> Result<void> { return fail("broken"); });
  EXPECT_EQ(ended.by, EndedBy::kLink);
  EXPECT_FALSE(ended.lost);
  EXPECT_EQ(ended.sent, 0u);
}

// It tells another value and wants to learn the evaluator's.
TEST(PairOrder, TheEvaluatorDoesNotOpenWhatIsNotEqual) {
  bool opened = false;
  const Ended ended = equality_against(Side::kEvaluator, [&](ot::Channel& channel) -> Result<void> {
    Digest committed, other{1};
    if (auto got = channel.read(committed); !got) return got;
    if (auto sent = channel.write(other); !sent) return sent;
    Bytes opening(64);
    opened = channel.read(opening).ok();
    return {};
  });
  EXPECT_FALSE(opened);
  EXPECT_EQ(ended.sent, 32u);
  EXPECT_EQ(ended.by, EndedBy::kCheck);
  EXPECT_NE(ended.why.find("products do not fit"), std::string::npos);
}

// It commits to something, hears the garbler's value and opens that.
TEST(PairOrder, AnOpeningMustBeWhatWasCommittedTo) {
  const auto rogue = [](ot::Channel& channel) -> Result<void> {
    Digest told{7};
    if (auto sent = channel.write(told); !sent) return sent;
    if (auto got = channel.read(told); !got) return got;
    Bytes opening(told.begin(), told.end());
    opening.resize(64);
    return channel.write(opening);
  };
  for (const Verdict verdict : {Verdict::kOnGuesses, Verdict::kOnOpenings}) {
    const Ended ended = equality_against(Side::kGarbler, rogue, verdict);
    EXPECT_EQ(ended.by, EndedBy::kCheck);
    EXPECT_FALSE(ended.lost);
    EXPECT_NE(ended.why.find("another value than it committed to"), std::string::npos);
  }
}

// Against an honest make_ands(): leaky ANDs, then coins, then buckets by their permutation. A party
// that drew the coins before the equality would wait for other messages, or fill other buckets.
TEST(PairOrder, BucketsAreDrawnAfterTheEquality) {
  const BucketPlan plan = plan_buckets(1);
  AuthAnds made[2];
  Label deltas[2];
  const Outcome outcome = with_sessions(
      [&](Session& session) -> Result<void> {
        deltas[0] = session.delta();
        auto ands = make_ands(session, plan.ands);
        if (!ands) return ands.error();
        made[0] = std::move(*ands);
        return {};
      },
      [&](Session& session) -> Result<void> {
        deltas[1] = session.delta();
        auto leaky = leaky_ands(session, plan.ands * plan.bucket);
        if (!leaky) return leaky.error();
        auto seed = session.coins();
        if (!seed) return seed.error();
        const auto order = permutation_of(*seed, leaky->size());
        AuthBits differ;
        for (std::size_t k = 0; k < order.size(); ++k)
          if (k % plan.bucket != 0)
            differ.push_back((*leaky)[order[k - k % plan.bucket]].y ^ (*leaky)[order[k]].y);
        auto opened = session.open(differ);
        if (!opened) return opened.error();
        std::size_t at = 0;
        for (std::size_t k = 0; k < order.size(); ++k) {
          AuthAnd one = (*leaky)[order[k]];
          if (k % plan.bucket == 0) {
            made[1].push_back(one);
            continue;
          }
          const std::uint64_t d = differ[at].own() ^ (*opened)[at];
          ++at;
          AuthAnd& sum = made[1].back();
          sum.x = sum.x ^ one.x;
          sum.z = sum.z ^ one.z ^ one.x.where(d);
        }
        return {};
      });
  ASSERT_TRUE(outcome.ok()) << outcome.error[0].value_or("") << outcome.error[1].value_or("");
  ASSERT_EQ(made[0].size(), made[1].size());
  for (std::size_t k = 0; k < made[0].size(); ++k)
    for (AuthBit AuthAnd::*which : {&AuthAnd::x, &AuthAnd::y, &AuthAnd::z})
      ASSERT_EQ((made[0][k].*which).mac,
                (made[1][k].*which).key ^ deltas[1].where((made[0][k].*which).own()));
}

TEST(PairOrder, RefusesWhatDoesNotBelongToIt) {
  const PairCircuit circuit = circuit_named("aes-sbox");
  Prepared kept;
  const auto keeps = [&](bool keep) {
    return [&, keep](Session& session) -> Result<void> {
      auto prepared = prepared_for(session, circuit);
      if (!prepared) return prepared.error();
      const AuthAnds none;
      EXPECT_FALSE(prepare(session, circuit, none, {}).ok());
      EXPECT_FALSE(make_ands(session, kMostAnds + 1).ok());
      EXPECT_FALSE(compute(session, *prepared, Inputs().own(Bits(3))).ok());
      EXPECT_TRUE(session.stands().ok());
      if (keep) kept = std::move(*prepared);
      return {};
    };
  };
  ASSERT_TRUE(with_sessions(keeps(true), keeps(false)).ok());
  const auto uses = [&](Session& session) -> Result<void> {
    if (session.side() == Side::kEvaluator) return {};
    EXPECT_NE(compute(session, kept, Inputs().own(Bits(8))).error().message.find("another session"),
              std::string::npos);
    return {};
  };
  EXPECT_TRUE(with_sessions(uses, uses).ok());
  ot::ExtensionOptions unchecked = small_batches();
  unchecked.checked = false;
  const auto nothing = [](Session&) -> Result<void> { return {}; };
  const Outcome refused = with_sessions(nothing, nothing, 0, {}, unchecked);
  for (const int p : {0, 1})
    EXPECT_NE(refused.error[p].value_or("").find("have to be checked"), std::string::npos);
}

}  // namespace
}  // namespace tkdc::pair
