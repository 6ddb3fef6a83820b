// SPDX-License-Identifier: Apache-2.0
#include "storm/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>

namespace tkdc::storm {
namespace {

// Values of HdrHistogram itself with three significant digits.
TEST(Histogram, BucketsAreThoseOfHdrHistogram) {
  auto lowest = [](std::int64_t v) { return Histogram::lowest_equivalent(Histogram::index_of(v)); };
  auto highest = [](std::int64_t v) {
    return Histogram::highest_equivalent(Histogram::index_of(v));
  };
  EXPECT_EQ(lowest(2047), 2047);
  EXPECT_EQ(highest(2047), 2047);
  EXPECT_EQ(lowest(2049), 2048);
  EXPECT_EQ(highest(2048), 2049);
  EXPECT_EQ(lowest(10'007), 10'000);  // HdrHistogram's own unit test: 8-wide buckets
  EXPECT_EQ(highest(10'007), 10'007);
  EXPECT_EQ(highest(10'008), 10'015);
}

TEST(Histogram, EveryValueLiesInItsBucketAndBucketsMeet) {
  std::size_t before = 0;
  for (std::int64_t v = 0; v < 300'000; ++v) {
    std::size_t index = Histogram::index_of(v);
    ASSERT_LE(Histogram::lowest_equivalent(index), v);
    ASSERT_GE(Histogram::highest_equivalent(index), v);
    ASSERT_TRUE(index == before || index == before + 1);
    before = index;
  }
}

TEST(Histogram, PercentilesOfAKnownSeries) {
  Histogram h;
  for (std::int64_t v = 1; v <= 1000; ++v) h.record(v);
  EXPECT_EQ(h.percentile(50), 500);
  EXPECT_EQ(h.percentile(99), 990);
  EXPECT_EQ(h.percentile(99.9), 999);
  EXPECT_EQ(h.percentile(100), 1000);
  EXPECT_EQ(h.percentile(0), 1);
  EXPECT_EQ(h.min(), 1);
  EXPECT_EQ(h.max(), 1000);
  EXPECT_NEAR(h.mean(), 500.5, 0.01);
}

TEST(Histogram, PercentilesAreWithinATenthOfAPercent) {
  std::mt19937_64 dice(5);
  Histogram h;
  std::vector<std::int64_t> all;
  for (int i = 0; i < 20'000; ++i) {
    double exponent = std::uniform_real_distribution(0.0, 20.0)(dice);
    all.push_back(static_cast<std::int64_t>(std::exp(exponent)));
    h.record(all.back());
  }
  std::sort(all.begin(), all.end());
  for (double p : {10.0, 50.0, 90.0, 99.0, 99.9}) {
    auto rank = static_cast<std::size_t>(std::ceil(p / 100 * 20'000 - 1e-9)) - 1;
    EXPECT_NEAR(static_cast<double>(h.percentile(p)) / static_cast<double>(all[rank]), 1, 0.001);
  }
}

TEST(Histogram, EmptyAndOutOfRange) {
  Histogram h;
  EXPECT_EQ(h.percentile(99), 0);
  EXPECT_EQ(h.max(), 0);
  EXPECT_TRUE(h.distribution().empty());
  h.record(-5);
  h.record(Histogram::kMax_us * 10);
  EXPECT_EQ(h.min(), 0);
  EXPECT_GE(h.max(), Histogram::kMax_us);
  EXPECT_LT(static_cast<double>(h.max()), 1.001 * static_cast<double>(Histogram::kMax_us));
}

TEST(Histogram, SumOfTwo) {
  Histogram a, b;
  a.record(10, 3);
  b.record(20, 7);
  a.add(b);
  EXPECT_EQ(a.count(), 10U);
  EXPECT_EQ(a.percentile(30), 10);
  EXPECT_EQ(a.percentile(31), 20);
  a.clear();
  EXPECT_EQ(a.count(), 0U);
  EXPECT_EQ(a.percentile(50), 0);
}

TEST(Histogram, TextEndsWithAllOfIt) {
  Histogram h;
  for (std::int64_t v = 1; v <= 1000; ++v) h.record(1000 * v);
  std::ostringstream out;
  h.write_hgrm(out);
  EXPECT_NE(out.str().find("1.000000000000       1000\n#[Mean"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("0.500000000000        500           2.00"), std::string::npos);
}

}  // namespace
}  // namespace tkdc::storm
