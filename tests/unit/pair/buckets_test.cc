// SPDX-License-Identifier: Apache-2.0
// Sizes of buckets and their bound; the permutation.
#include "pair/buckets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace tkdc::pair {
namespace {

// The bound counted out: t guessed among N, all placements.
double counted(std::size_t ands, std::size_t bucket, std::size_t guessed) {
  std::mt19937_64 generator(1);
  constexpr int kRuns = 400'000;
  int bad = 0;
  std::vector<std::size_t> place(ands * bucket);
  for (std::size_t k = 0; k < place.size(); ++k) place[k] = k;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<std::size_t> in(ands);
    bool full = false;
    for (std::size_t k = 0; k < guessed; ++k) {
      std::swap(place[k], place[k + generator() % (place.size() - k)]);
      full |= ++in[place[k] / bucket] == bucket;
    }
    bad += full;
  }
  return std::log2(static_cast<double>(bad) / kRuns) - static_cast<double>(guessed);
}

TEST(Buckets, BoundIsAboveWhatIsCounted) {
  for (const std::size_t ands : {3, 8}) {
    double most = -99;
    for (std::size_t guessed = 2; guessed <= 2 * ands; ++guessed)
      most = std::max(most, counted(ands, 2, guessed));
    const double bound = bucket_bound(ands, 2);
    EXPECT_LE(most, bound + 0.05) << ands;
    EXPECT_GE(most, bound - 1.5) << ands;
  }
}

TEST(Buckets, BoundsThatTheDocsQuote) {
  EXPECT_NEAR(bucket_bound(1'000, 5), -46.6, 0.05);
  EXPECT_NEAR(bucket_bound(1'000, 6), -58.0, 0.1);
  EXPECT_NEAR(bucket_bound(5'600, 5), -56.5, 0.1);
  EXPECT_NEAR(bucket_bound(std::size_t{1} << 18, 4), -59.3, 0.1);
  EXPECT_GT(bucket_bound(std::size_t{1} << 18, 3), -40);
}

TEST(Buckets, PlanKeepsTheBoundForEverySize) {
  for (std::size_t ands = 1; ands <= kMostAnds; ands += 1 + ands / 50)
    EXPECT_LE(plan_buckets(ands).bound, kWantedBound) << ands;
  EXPECT_EQ(plan_buckets(1).ands, kLeastAnds);
  EXPECT_EQ(plan_buckets(1).bucket, 6u);
  EXPECT_EQ(plan_buckets(5'599).bucket, 6u);
  EXPECT_EQ(plan_buckets(5'600).bucket, 5u);
  EXPECT_EQ(plan_buckets(kMostAnds).bucket, 4u);
}

TEST(Buckets, PermutationIsOneAndFollowsFromItsSeed) {
  const auto order = permutation_of({1, 2}, 5000);
  EXPECT_EQ(order, permutation_of({1, 2}, 5000));
  EXPECT_NE(order, permutation_of({1, 3}, 5000));
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t k = 0; k < sorted.size(); ++k) ASSERT_EQ(sorted[k], k);
  // Where the first place goes: even over a thousand seeds.
  std::vector<int> seen(4);
  for (std::uint64_t seed = 0; seed < 4000; ++seed) ++seen[permutation_of({seed, 9}, 4)[0]];
  for (const int count : seen) EXPECT_NEAR(count, 1000, 110);
}

}  // namespace
}  // namespace tkdc::pair
