// SPDX-License-Identifier: Apache-2.0
// The planner: alike at all three servers, monotonic in what it weighs, and never garbling without
// an instance.
#include "service/garbled/planner.h"

#include <gtest/gtest.h>

#include <random>

namespace tkdc {
namespace {

// A login's seal of 249 octets: rounds by sharing, ANDs, m1 (docs/protocols/20).
constexpr JobFigures kSeal{952, 187'524, 70'369};

PlannerSettings automatic() {
  PlannerSettings settings;
  settings.wanted = Wanted::kAuto;
  return settings;
}
std::array<ServerFigures, 3> all(std::uint32_t jobs, std::uint32_t instances,
                                 std::uint32_t delay_us) {
  const ServerFigures one{jobs, instances, delay_us};
  return {one, one, one};
}

TEST(Planner, SharesUnlessItIsConfigured) {
  EXPECT_EQ(choose(PlannerSettings(), kSeal, all(0, 9, 50'000)), Choice::kSharing);
}

TEST(Planner, GarblesFarApartAndSharesUnderLoad) {
  EXPECT_EQ(choose(automatic(), kSeal, all(0, 1, 2'500)), Choice::kGarbling);
  EXPECT_EQ(choose(automatic(), kSeal, all(0, 1, 50'000)), Choice::kGarbling);
  EXPECT_EQ(choose(automatic(), kSeal, all(16, 1, 2'500)), Choice::kGarbling);
  EXPECT_EQ(choose(automatic(), kSeal, all(17, 1, 2'500)), Choice::kSharing);
  // A job of few rounds and many ANDs.
  EXPECT_EQ(choose(automatic(), {8, 1'000'000, 70'000}, all(0, 1, 100)), Choice::kSharing);
}

TEST(Planner, AConfigurationFixesItButForAnEmptyReserve) {
  PlannerSettings settings;
  settings.wanted = Wanted::kGarbling;
  EXPECT_EQ(choose(settings, kSeal, all(1'000, 1, 0)), Choice::kGarbling);
  EXPECT_EQ(choose(settings, kSeal, all(0, 0, 50'000)), Choice::kSharing);
  settings.wanted = Wanted::kSharing;
  EXPECT_EQ(choose(settings, kSeal, all(0, 5, 50'000)), Choice::kSharing);
}

// One server's figures decide where they are the worst, in whichever place they stand.
TEST(Planner, TheOrderOfServersIsNothing) {
  std::mt19937 generator(3);
  const auto drawn = [&](std::uint32_t most) {
    return static_cast<std::uint32_t>(generator() % (most + 1));
  };
  int garbled = 0;
  for (int run = 0; run < 2'000; ++run) {
    std::array<ServerFigures, 3> servers;
    for (ServerFigures& one : servers) one = {drawn(20), drawn(6), drawn(5'000)};
    const JobFigures job{drawn(1'000), drawn(200'000), drawn(70'000)};
    const Choice chosen = choose(automatic(), job, servers);
    garbled += chosen == Choice::kGarbling ? 1 : 0;
    std::array<int, 3> order{0, 1, 2};
    while (std::next_permutation(order.begin(), order.end())) {
      std::array<ServerFigures, 3> other;
      for (std::size_t k = 0; k < 3; ++k) other[k] = servers[static_cast<std::size_t>(order[k])];
      ASSERT_EQ(choose(automatic(), job, other), chosen);
    }
    const auto without = [&](auto change) {
      std::array<ServerFigures, 3> worse = servers;
      change(worse[generator() % 3]);
      return choose(automatic(), job, worse);
    };
    EXPECT_EQ(without([](ServerFigures& one) { one.instances = 0; }), Choice::kSharing);
    EXPECT_EQ(without([](ServerFigures& one) { one.jobs = 1'000; }), Choice::kSharing);
    // More rounds never speak for sharing, more ANDs never for garbling.
    if (chosen == Choice::kGarbling) {
      EXPECT_EQ(choose(automatic(), {job.rounds + 9, job.ands, job.message}, servers), chosen);
    } else {
      EXPECT_EQ(choose(automatic(), {job.rounds, job.ands + 9, job.message}, servers), chosen);
    }
  }
  EXPECT_GT(garbled, 100);
  EXPECT_LT(garbled, 1'900);
}

// No figure overflows.
TEST(Planner, TakesWhatItIsTold) {
  constexpr std::uint32_t kMost = ~std::uint32_t{0};
  EXPECT_EQ(choose(automatic(), {kMost, 1, 1}, all(0, 1, kMost)), Choice::kGarbling);
  EXPECT_EQ(choose(automatic(), {1, kMost, kMost}, all(0, 1, 0)), Choice::kSharing);
}

}  // namespace
}  // namespace tkdc
