// SPDX-License-Identifier: Apache-2.0
// Who may have the next instance: one key's or one agent's flood leaves some to others, and nothing
// is kept from who asks alone, or no faster than instances are made again.
#include "service/garbled/instance_quotas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <random>

namespace tkdc {
namespace {

using Answer = InstanceQuotas::Answer;
constexpr std::size_t kWanted = 6, kPlaces = 16;

PrincipalDigest key(std::uint8_t number) {
  PrincipalDigest one{};
  one[0] = number;
  return one;
}

// A reserve of one kind or two, and the lane's jobs as they are named.
struct Reserved {
  InstanceQuotas quotas;
  std::map<std::string, std::size_t> ready;
  std::size_t places = 0;
  std::uint64_t number = 0;

  Answer name(std::uint64_t agent, const std::optional<PrincipalDigest>& who,
              const std::string& circuit = "open18:60") {
    ready.try_emplace(circuit, kWanted);
    last = {agent, 1, ++number};
    return quotas.ask(last, who, {circuit, ready[circuit], kWanted, places});
  }
  // It is named, and takes one if it may.
  Answer take(std::uint64_t agent, const std::optional<PrincipalDigest>& who,
              const std::string& circuit = "open18:60") {
    const Answer answer = name(agent, who, circuit);
    if (answer != Answer::kGranted) return answer;
    const bool has = ready[circuit] > 0;
    ready[circuit] -= has ? 1 : 0;
    quotas.settle(last, has);
    return answer;
  }
  std::size_t flood(std::uint64_t agent, const std::optional<PrincipalDigest>& who,
                    const std::string& circuit = "open18:60") {
    std::size_t had = 0;
    for (int k = 0; k < 100; ++k) {
      const std::size_t before = ready.contains(circuit) ? ready[circuit] : kWanted;
      (void)take(agent, who, circuit);
      had += before - ready[circuit];
    }
    return had;
  }
  JobName last;
};

TEST(InstanceQuotas, WhoAsksAloneMayHaveAll) {
  Reserved lane;
  EXPECT_EQ(lane.flood(1, key(1)), kWanted);
}

TEST(InstanceQuotas, OneKeyLeavesHalfToOthers) {
  Reserved lane;
  (void)lane.take(1, key(9), "another kind");
  EXPECT_EQ(lane.flood(1, key(1)), kWanted / 2);
  EXPECT_EQ(lane.take(1, key(1)), Answer::kKeyHad);
  // Others find some, one each.
  for (std::uint8_t other = 2; other <= 4; ++other) {
    EXPECT_EQ(lane.take(1, key(other)), Answer::kGranted);
    EXPECT_EQ(lane.ready["open18:60"], 4u - other);
  }
  // Of another kind it has taken none.
  EXPECT_EQ(lane.flood(1, key(1), "seal18:249"), kWanted / 2);
}

// All at once, in one manifest: what is named counts before it is taken.
TEST(InstanceQuotas, WhatIsNamedCounts) {
  Reserved lane;
  (void)lane.take(1, key(9), "another kind");
  std::vector<JobName> named;
  for (int k = 0; k < 50; ++k)
    if (lane.name(1, key(1)) == Answer::kGranted) named.push_back(lane.last);
  EXPECT_EQ(named.size(), kWanted / 2);
  // They were not admitted: it may have as many again.
  for (const JobName& job : named) lane.quotas.settle(job, false);
  EXPECT_EQ(lane.flood(1, key(1)), kWanted / 2);
}

TEST(InstanceQuotas, WhoWaitsUntilItIsMadeAgainIsNeverRefused) {
  Reserved lane;
  (void)lane.take(1, key(9), "another kind");
  for (int k = 0; k < 100; ++k) {
    EXPECT_EQ(lane.take(1, key(1)), Answer::kGranted);
    lane.ready["open18:60"] = kWanted;
  }
}

// As one is made, the flood takes it, and no more than it; a quiet key still finds one.
TEST(InstanceQuotas, RefillingGoesToWhoHasTakenMost) {
  Reserved lane;
  (void)lane.take(1, key(9), "another kind");
  lane.flood(1, key(1));
  for (std::uint8_t other = 2; other < 60; ++other) {
    ++lane.ready["open18:60"];
    EXPECT_LE(lane.flood(1, key(1)), 1u);
    EXPECT_GE(lane.ready["open18:60"], 1u) << int{other};
    if (other % 2 == 0) {
      EXPECT_EQ(lane.take(1, key(other)), Answer::kGranted);
    }
  }
}

TEST(InstanceQuotas, OneAgentLeavesAThirdToOthers) {
  Reserved lane;
  (void)lane.take(2, key(9), "another kind");
  // Of many keys, so that none of them has had its quota; and krbtgt's, which is no key's.
  std::size_t had = 0;
  for (std::uint8_t k = 10; k < 60; ++k) had += lane.take(1, key(k)) == Answer::kGranted ? 1 : 0;
  EXPECT_EQ(had, 4u);
  EXPECT_EQ(lane.take(1, key(60)), Answer::kAgentHad);
  EXPECT_EQ(lane.take(2, key(61)), Answer::kGranted);
  EXPECT_EQ(lane.flood(1, std::nullopt, "aes256"), 4u);
  EXPECT_EQ(lane.take(2, std::nullopt, "aes256"), Answer::kGranted);
}

TEST(InstanceQuotas, KrbtgtsKeyCountsForItsAgentAlone) {
  Reserved lane;
  (void)lane.take(1, key(9), "another kind");
  (void)lane.take(1, key(8), "another kind");
  EXPECT_EQ(lane.flood(1, std::nullopt, "aes256"), kWanted);
}

// Where jobs wait, one key has half of the places, of all kinds together.
TEST(InstanceQuotas, PlacesToWaitHaveQuotasToo) {
  Reserved lane;
  lane.places = kPlaces;
  (void)lane.take(1, key(9), "another kind");
  lane.ready["open18:60"] = lane.ready["open18:61"] = 0;
  std::size_t waits = 0;
  for (int k = 0; k < 50; ++k) {
    waits += lane.name(1, key(1), k % 2 == 0 ? "open18:60" : "open18:61") == Answer::kGranted;
  }
  EXPECT_EQ(waits, kPlaces / 2);
  EXPECT_EQ(lane.name(1, key(2)), Answer::kGranted);
  EXPECT_EQ(lane.name(1, key(1)), Answer::kKeyHad);
}

// As it is written down: one after the other, the oldest of who has taken most.
std::vector<bool> paid_one_by_one(const std::vector<Taker>& takers, std::size_t made) {
  std::vector<bool> out(takers.size());
  for (; made > 0; --made) {
    const auto owes = [&](std::size_t at) {
      std::size_t sum = 0;
      for (std::size_t k = 0; k < takers.size(); ++k) sum += !out[k] && takers[k] == takers[at];
      return out[at] ? 0 : sum;
    };
    std::size_t most = 0;
    for (std::size_t k = 1; k < takers.size(); ++k)
      if (owes(k) > owes(most)) most = k;
    if (takers.empty() || out[most]) break;
    out[most] = true;
  }
  return out;
}

TEST(InstanceQuotas, TheOldestOfWhoHasTakenMostIsPaidOff) {
  std::mt19937 draw(1);  // NOLINT: the same each time
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Taker> takers(draw() % 12);
    for (Taker& one : takers)
      if (const auto number = draw() % 5; number > 0) one = key(static_cast<std::uint8_t>(number));
    for (std::size_t made = 0; made <= takers.size() + 1; ++made)
      ASSERT_EQ(paid_off(takers, made), paid_one_by_one(takers, made)) << trial << " " << made;
  }
}

// A cubic way takes ten times as long.
TEST(InstanceQuotas, ManyArePaidOffAtOnce) {
  std::vector<Taker> takers;
  for (std::size_t k = 0; k < 2'000; ++k) takers.emplace_back(key(std::uint8_t(k % 251)));
  const std::clock_t before = std::clock();
  const std::vector<bool> paid = paid_off(takers, 1'900);
  EXPECT_EQ(std::ranges::count(paid, true), 1'900);
  EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC);
}

// Kinds may be as many as there are lengths, and most are not asked for again.
TEST(InstanceQuotas, ForgetsTheOldestThatWasTaken) {
  Reserved lane;
  (void)lane.take(1, key(9), "another kind");
  const auto take_last_of = [&](const std::string& circuit) {
    lane.ready[circuit] = 1;
    return lane.take(1, key(1), circuit);
  };
  EXPECT_EQ(take_last_of("first"), Answer::kGranted);
  EXPECT_EQ(take_last_of("first"), Answer::kKeyHad);
  for (std::size_t k = 0; k < 4'200; ++k)
    EXPECT_EQ(take_last_of("kind " + std::to_string(k)), Answer::kGranted);
  EXPECT_EQ(take_last_of("first"), Answer::kGranted);
}

TEST(InstanceQuotas, RemembersABoundedNumber) {
  Reserved lane;
  for (std::uint8_t k = 0; k < 200; ++k) {
    const Answer answer = lane.name(1, key(k));
    EXPECT_EQ(answer, k < InstanceQuotas::kMostPromised ? Answer::kGranted : Answer::kFull);
  }
}

}  // namespace
}  // namespace tkdc
