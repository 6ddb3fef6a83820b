// SPDX-License-Identifier: Apache-2.0
// No deal serves twice, however deals are mixed, and what is remembered does not grow.
#include "pair/served_deals.h"

#include <gtest/gtest.h>

#include <random>

namespace tkdc::pair {
namespace {

using Is = ServedDeals::Is;
constexpr std::uint64_t kWindow = ServedDeals::kWindow;
constexpr std::size_t kRuns = ServedDeals::kRuns;

TEST(ServedDeals, InAnyOrderEachServesOnce) {
  std::mt19937_64 random(1);
  ServedDeals deals;
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> served;
  std::uint64_t base[3] = {1, 1, 1};
  for (int k = 0; k < 200'000; ++k) {
    const std::uint64_t agent = random() % 3, run = random() % 4;
    base[agent] += random() % 5 == 0 ? random() % 9 : 0;
    const std::uint64_t number = base[agent] + random() % 40;
    const Is is = deals.state_of(agent, run, number);
    EXPECT_EQ(is == Is::kNew, served.emplace(agent, run, number).second) << number;
    if (is == Is::kNew) deals.serves(agent, run, number);
  }
}

TEST(ServedDeals, WhatIsBehindTheWindowIsRefused) {
  ServedDeals deals;
  deals.serves(7, 1, 10);
  for (const std::uint64_t far : {kWindow - 1, kWindow, kWindow + 1, 10 * kWindow}) {
    deals.serves(7, 1, 10 + far);
    const bool inside = far < kWindow;
    EXPECT_EQ(deals.state_of(7, 1, 10), inside ? Is::kServed : Is::kTooOld) << far;
    EXPECT_EQ(deals.state_of(7, 1, 11 + far), Is::kNew);
  }
  const std::uint64_t highest = 10 + 10 * kWindow;
  EXPECT_EQ(deals.state_of(7, 1, highest - kWindow), Is::kTooOld);
  EXPECT_EQ(deals.state_of(7, 1, highest - kWindow + 1), Is::kNew) << "a place of the ring anew";
  EXPECT_EQ(deals.state_of(7, 1, 0), Is::kTooOld);
  deals.serves(7, 1, ~std::uint64_t{0});
  EXPECT_EQ(deals.state_of(7, 1, ~std::uint64_t{0}), Is::kServed);
  EXPECT_EQ(deals.state_of(7, 1, highest), Is::kTooOld);
}

// An agent that is started anew again and again; another one notices nothing of it.
TEST(ServedDeals, RunsThatAreOverServeNoMore) {
  ServedDeals deals;
  deals.serves(8, 0, 1);
  for (std::uint64_t run = 0; run < ServedDeals::kMostRuns; ++run) {
    ASSERT_EQ(deals.state_of(7, run, 1), Is::kNew);
    deals.serves(7, run, 1);
    ASSERT_EQ(deals.state_of(7, run, 1), Is::kServed);
    ASSERT_EQ(deals.state_of(7, run, 2), Is::kNew);
    if (run < kRuns) continue;
    ASSERT_EQ(deals.state_of(7, run - kRuns, 2), Is::kOfTooMany);
  }
  for (std::uint64_t run = 0; run < ServedDeals::kMostRuns; ++run)
    EXPECT_NE(deals.state_of(7, run, 1), Is::kNew);
  EXPECT_EQ(deals.state_of(7, ServedDeals::kMostRuns, 1), Is::kOfTooMany);
  EXPECT_EQ(deals.state_of(7, ServedDeals::kMostRuns - 1, 2), Is::kNew);
  EXPECT_EQ(deals.state_of(8, 0, 1), Is::kServed);
  EXPECT_EQ(deals.state_of(8, 1, 1), Is::kNew);
}

// Two processes with one key take turns: neither shuts the other out.
TEST(ServedDeals, TheRunThatWasServedLongestAgoGoes) {
  ServedDeals deals;
  for (std::uint64_t run = 0; run < kRuns; ++run) deals.serves(7, run, 1);
  deals.serves(7, 0, 2);
  deals.serves(7, 99, 1);
  EXPECT_EQ(deals.state_of(7, 0, 3), Is::kNew);
  EXPECT_EQ(deals.state_of(7, 1, 3), Is::kOfTooMany);
  EXPECT_EQ(deals.state_of(7, 2, 3), Is::kNew);
}

}  // namespace
}  // namespace tkdc::pair
