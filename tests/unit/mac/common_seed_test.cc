// SPDX-License-Identifier: Apache-2.0
// A seed that the three have in common: the same at all, another each time, and nobody's choice.
#include "mac/common_seed.h"

#include <gtest/gtest.h>

#include "support/three_parties.h"

namespace tkdc {
namespace {

struct Seeds : test::ThreeLanes {
  explicit Seeds(Security security) : ThreeLanes(1, security) {}
  Result<void> draw(std::uint64_t number) {
    auto one = [&](int p) -> Task<void> { seed[p] = co_await common_seed(*lane[p], number); };
    return run(one);
  }
  SecretVector seed[3];
};

TEST(CommonSeed, IsTheSameAtAllAndAnotherEachTime) {
  for (Security security : {Security::kSemiHonest, Security::kMalicious}) {
    Seeds three(security);
    ASSERT_TRUE(three.draw(1).ok());
    EXPECT_EQ(three.seed[0].size(), kCommonSeedBytes);
    EXPECT_EQ(three.seed[0], three.seed[1]);
    EXPECT_EQ(three.seed[0], three.seed[2]);
    const SecretVector first = three.seed[0];
    ASSERT_TRUE(three.draw(2).ok());
    EXPECT_NE(three.seed[0], first);
  }
}

// Whoever changes its octets after the others' were revealed is found.
TEST(CommonSeed, WhatWasCommittedToIsRevealed) {
  for (Security security : {Security::kSemiHonest, Security::kMalicious})
    for (int tick = 0; tick < 3; ++tick) {
      Seeds three(security);
      bool changed = false;
      three.tamper = [&](int p, SecretVector& to_prev, SecretVector& to_next) {
        if (p != 1 || three.lane[1]->rounds() != static_cast<std::uint64_t>(tick)) return;
        to_prev[0] ^= 1;
        to_next[0] ^= 1;
        changed = true;
      };
      const bool ran = three.draw(1).ok();
      if (!changed) continue;
      const bool accepted =
          ran && !three.seed[0].empty() && !three.seed[2].empty() && !three.seed[1].empty();
      EXPECT_FALSE(accepted) << tick;
    }
}

// Different octets to the two others: they compare what they have.
TEST(CommonSeed, IsOneSeedOrNone) {
  Seeds three(Security::kMalicious);
  three.tamper = [&](int p, SecretVector& to_prev, SecretVector& to_next) {
    const std::uint64_t tick = three.lane[1]->rounds();
    if (p == 1 && tick == 0) std::ranges::copy(to_prev, to_next.begin());
    if (p == 1 && tick == 1) to_next[0] ^= 1;
  };
  EXPECT_FALSE(three.draw(1).ok());
}

}  // namespace
}  // namespace tkdc
