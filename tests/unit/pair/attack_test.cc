// SPDX-License-Identifier: Apache-2.0
// What a changed party does to a pair: each message changed, and attacks that are known.
#include "pair/rogue_evaluator.h"
#include "pair/rogue_garbler.h"

namespace tkdc::pair {
namespace {

TEST(PairAttack, AFlippedValueEndsTheSessionBeforeTheGarblerSaysAnything) {
  std::mt19937_64 generator(1);
  for (int run = 0; run < 4; ++run) {
    const Flipped flipped = attack_by_flip(random_bits(generator, 3));
    EXPECT_FALSE(flipped.read);
    EXPECT_NE(flipped.garblers_error.value_or("").find("masked values"), std::string::npos);
  }
}

TEST(PairAttack, AWrongLabelEndsTheRunWhateverTheInputs) {
  for (const std::uint8_t x0 : {0, 1})
    for (const std::uint8_t x1 : {0, 1})
      for (int run = 0; run < 2; ++run)
        EXPECT_NE(attack_by_a_label(x0, x1).value_or("").find("labels of inputs"),
                  std::string::npos);
}

TEST(PairAttack, TwoSessionsDoNotMix) {
  const auto party = [](Side side, Bytes context) {
    return [side, context](ot::Channel& channel) -> Result<void> {
      auto session = Session::create(channel, side, context, small_batches());
      return session ? Result<void>() : session.error();
    };
  };
  const Outcome outcome = ot::run_parties(party(Side::kGarbler, {1}), party(Side::kEvaluator, {2}));
  EXPECT_TRUE(outcome.error[0]);
  EXPECT_TRUE(outcome.error[1]);
}

// The S-box: 32 ANDs, so all of a job's messages are short.
class SmallJob {
 public:
  SmallJob() : circuit_(circuit_named("aes-sbox")) {
    Computed honest;
    const Outcome outcome = run(3, honest);
    EXPECT_TRUE(outcome.ok());
    for (const int p : {0, 1}) {
      ahead_at[p] = honest.ahead_at[p];
      online_at[p] = honest.online_at[p];
      end[p] = outcome.sent[p];
    }
  }
  Outcome run(std::uint64_t seed, Computed& out, int cheat = 0, Change change = {}) {
    std::mt19937_64 generator(seed);
    const Bits inputs = random_bits(generator, 8);
    expected = in_the_clear(circuit_, inputs);
    return compute_pair(circuit_, inputs, out, cheat, change);
  }
  // Whether the change ended it. An honest party that came to its end has the right outputs.
  bool ends(std::uint64_t seed, int cheat, Change change) {
    Computed out;
    const Outcome outcome = run(seed, out, cheat, change);
    const int honest = 1 - cheat;
    if (outcome.error[honest]) return true;
    EXPECT_EQ(out.outputs[honest], expected) << cheat << " " << change.at;
    return false;
  }

  std::uint64_t ahead_at[2], online_at[2], end[2];
  Bits expected;

 private:
  const PairCircuit circuit_;
};

// All octets of the online messages, some bit each. Changed by the garbler: its masked inputs (1
// octet), labels (8 · 16), digest (16), output masks with digest (1 + 16); by the evaluator: masked
// inputs, values (4) with digest (16), output masks. Whatever the inputs are, each ends the
// session.
TEST(PairAttack, EveryOnlineMessageChangedEndsWhateverTheInputs) {
  SmallJob job;
  ASSERT_EQ(job.end[0] - job.online_at[0], 1u + 128 + 16 + 17);
  ASSERT_EQ(job.end[1] - job.online_at[1], 1u + 20 + 17);
  for (const int cheat : {0, 1})
    for (std::uint64_t at = job.online_at[cheat]; at < job.end[cheat]; at += cheat == 0 ? 9 : 3) {
      int ended = 0;
      for (const std::uint64_t seed : {1, 2})
        ended += job.ends(seed, cheat, {at, static_cast<std::uint8_t>(1 << at % 8)});
      // Of eight output bits' octet and the like no bit is unused: the rate is 1.
      EXPECT_EQ(ended, 2) << cheat << " " << at - job.online_at[cheat];
    }
}

// Messages of the setup. A change is found, or it was never used (a sum of a tree, a chunk of Δ
// that is zero); it never gives an output that is not right.
TEST(PairAttack, EveryMessageOfTheSetupChangedIsFoundOrMeansNothing) {
  SmallJob job;
  std::mt19937_64 generator(4);
  int ended[2] = {0, 0};
  constexpr int kPlaces = 10;
  for (const int cheat : {0, 1})
    for (int place = 0; place < kPlaces; ++place) {
      const std::uint64_t at = generator() % job.ahead_at[cheat];
      ended[cheat] += job.ends(5, cheat, {at, static_cast<std::uint8_t>(1 << generator() % 8)});
    }
  for (const int cheat : {0, 1}) EXPECT_GT(ended[cheat], 0);
}

// Octets that a party sends for so many authenticated bits.
std::uint64_t octets_of_bits(std::size_t bits) {
  std::uint64_t octets = 0;
  const auto body = [&](Session& session) -> Result<void> {
    const std::uint64_t before = session.channel().sent();
    auto drawn = session.draw(bits);
    if (!drawn) return drawn.error();
    if (session.side() == Side::kGarbler) octets = session.channel().sent() - before;
    return {};
  };
  EXPECT_TRUE(with_sessions(body, body).ok());
  return octets;
}

// And for the setup.
std::uint64_t octets_of_setup(int party) {
  const auto nothing = [](Session&) -> Result<void> { return {}; };
  const Outcome outcome = with_sessions(nothing, nothing);
  EXPECT_TRUE(outcome.ok());
  return outcome.sent[party];
}

// Where a job's messages stand behind its rows, 32 ANDs and one piece of everything.
struct AheadPlaces {
  AheadPlaces(const SmallJob& job, int cheat)
      : plan(plan_buckets(32)), leaky(plan.ands * plan.bucket),
        tables(job.ahead_at[cheat] + octets_of_bits(3 * leaky)), turns(tables + 16 * leaky),
        equality(turns + leaky / 8), coins(equality + (cheat == 0 ? 32 : 96)),
        buckets(coins + (cheat == 0 ? 32 : 96)), masks(buckets + 32 * (plan.bucket - 1) / 8 + 16) {}

  BucketPlan plan;
  std::uint64_t leaky, tables, turns, equality, coins, buckets, masks;
};

// d of leaky ANDs, the equality, the coins and the openings, some octets of each: each is found.
TEST(PairAttack, EachMessageBehindTheTablesChangedIsFound) {
  SmallJob job;
  for (const int cheat : {0, 1}) {
    const AheadPlaces at(job, cheat);
    // The garbler tells 32 octets of coins, of which the first 16 count.
    std::vector<std::uint64_t> places = {at.turns,    at.turns + at.leaky / 8 - 1,
                                         at.equality, at.coins - 1,
                                         at.coins,    at.coins + 15,
                                         at.buckets,  at.masks - 1};
    if (cheat == 1) places.insert(places.end(), {at.equality + 32, at.coins + 32, at.buckets - 1});
    // λ ⊕ x and λ ⊕ y of 32 ANDs with a digest; the garbler then sends π's key, tables and turns.
    const std::uint64_t garbled = cheat == 0 ? 16 + 32 * 32 + 4 : 0;
    const std::uint64_t opened = job.online_at[cheat] - garbled - (64 / 8 + 16);
    places.insert(places.end(), {opened, opened + 7, opened + 8, opened + 23});
    if (cheat == 0) {
      places.insert(places.end(), {opened + 24, opened + 39});                    // π's key
      places.insert(places.end(), {job.online_at[0] - 4, job.online_at[0] - 1});  // turns
    }
    for (const std::uint64_t place : places)
      EXPECT_TRUE(job.ends(6, cheat, {place, 1})) << cheat << " " << place - at.tables;
  }
}

// A table is used where the evaluator's label has the colour 1: for each that does not end it the
// outputs are right, which ends() looks at.
TEST(PairAttack, TablesOfGatesChangedAreFoundOrNotUsed) {
  SmallJob job;
  int ended = 0;
  for (std::uint64_t half = 0; half < 24; ++half)
    ended += job.ends(half, 0, {job.online_at[0] - 4 - 32 * 32 + 16 * half, 2});
  EXPECT_GT(ended, 0);
  EXPECT_LT(ended, 24);
}

// A table of a leaky AND with an error ends the session if and only if the other party's share of x
// is 1: that is the guess that buckets are for. Inputs are not there yet.
TEST(PairAttack, AGuessInALeakyAndIsCaughtWhereItIsWrong) {
  constexpr std::size_t kLeaky = 8;
  const std::uint64_t before_tables[2] = {octets_of_setup(0) + octets_of_bits(3 * kLeaky),
                                          octets_of_setup(1) + octets_of_bits(3 * kLeaky)};
  for (const int cheat : {0, 1}) {
    int ended = 0;
    for (std::uint64_t run = 0; run < 16; ++run) {
      std::uint64_t share = 2;
      const auto body = [&](Session& session) -> Result<void> {
        AuthAnds ands(kLeaky);
        auto drawn = session.draw({&ands[0].x, 3 * kLeaky});
        if (!drawn) return drawn;
        if (static_cast<int>(session.side()) != cheat) share = ands[run % kLeaky].x.own();
        return multiply(session, ands);
      };
      const Outcome outcome =
          with_sessions(body, body, cheat, {before_tables[cheat] + 16 * (run % kLeaky) + 5, 4});
      EXPECT_EQ(outcome.error[1 - cheat].has_value(), share == 1) << run;
      ended += share == 1;
    }
    EXPECT_GT(ended, 0);
    EXPECT_LT(ended, 16);
  }
}

// The control: a leaky AND whose z is another bit is found by the equality, whatever x and y are.
TEST(PairAttack, AProductsCorrectionChangedIsAlwaysFound) {
  SmallJob job;
  const BucketPlan plan = plan_buckets(32);
  const std::uint64_t leaky = plan.ands * plan.bucket;
  const std::uint64_t tables = octets_of_bits(3 * leaky);
  // One piece: its corrections follow its tables.
  for (const int cheat : {0, 1})
    for (std::uint64_t run = 0; run < 5; ++run)
      EXPECT_TRUE(job.ends(run, cheat, {job.ahead_at[cheat] + tables + 16 * leaky + run, 1}));
}

// An evaluator that has found the garbler's digest wrong has not told its masks.
TEST(PairAttack, TheEvaluatorTellsNothingBeforeItHasCompared) {
  SmallJob job;
  Computed out;
  const Outcome outcome = job.run(7, out, 0, {job.online_at[0] + 1 + 128, 1});
  EXPECT_NE(outcome.error[1].value_or("").find("another circuit"), std::string::npos);
  EXPECT_EQ(outcome.sent[1] - job.online_at[1], 1u + 20);
}

TEST(PairAttack, ASessionThatHasEndedStaysSo) {
  const auto body = [](Session& session) -> Result<void> {
    if (session.side() == Side::kEvaluator) {
      auto drawn = session.draw(8);
      if (!drawn) return drawn.error();
      (*drawn)[3].mac.low ^= 4;
      return session.tell(*drawn);
    }
    auto drawn = session.draw(8);
    if (!drawn) return drawn.error();
    auto heard = session.hear(*drawn);
    EXPECT_NE(heard.error().message.find("does not have"), std::string::npos);
    EXPECT_NE(session.draw(8).error().message.find("has ended"), std::string::npos);
    EXPECT_NE(session.coins().error().message.find("has ended"), std::string::npos);
    EXPECT_FALSE(session.equal({}).ok());
    EXPECT_FALSE(session.open({}).ok());
    return {};
  };
  (void)with_sessions(body, body);
}

}  // namespace
}  // namespace tkdc::pair
