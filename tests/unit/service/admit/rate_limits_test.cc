// SPDX-License-Identifier: Apache-2.0
// Rates per agent and per key, on a clock that the tests move.
#include "service/admit/rate_limits.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace tkdc {
namespace {

using Clock = TokenBucket::Clock;
using std::chrono::milliseconds;

const Clock::time_point kStart = Clock::time_point(std::chrono::hours(1));

KeyId id_of(std::uint64_t number) {
  KeyId id{};
  std::memcpy(id.data(), &number, sizeof number);
  return id;
}

KeyRecord record_of(std::uint64_t number, KeyClass key_class) {
  KeyRecord record;
  record.ref.id = id_of(number);
  record.key_class = key_class;
  return record;
}

int allowed(RateLimits& limits, const KeyRecord& record, int asked, Clock::time_point now,
            std::uint64_t agent = 1) {
  int out = 0;
  for (int k = 0; k < asked; ++k) out += limits.count(agent, &record, now) == RateVerdict::kAllowed;
  return out;
}

RateLimits of_users(RateLimit limit) {
  RateLimitOptions options;
  options.user_key = limit;
  return RateLimits(options);
}

TEST(RateLimits, ABurstThenTheRate) {
  RateLimits limits = of_users({50, 1000});
  const KeyRecord alice = record_of(1, KeyClass::kUser);
  EXPECT_EQ(allowed(limits, alice, 2000, kStart), 1000);
  EXPECT_EQ(allowed(limits, alice, 2000, kStart + milliseconds(1000)), 50);
  EXPECT_EQ(allowed(limits, alice, 2000, kStart + milliseconds(1500)), 25);
  EXPECT_EQ(allowed(limits, alice, 2000, kStart + std::chrono::hours(1)), 1000)
      << "never more than the burst";
  EXPECT_EQ(limits.keys_refused(), 4u * 2000 - 2075);
  EXPECT_EQ(limits.agents_refused(), 0u);
}

TEST(RateLimits, AClockThatStandsOrFallsGivesNothing) {
  RateLimits limits = of_users({50, 10});
  const KeyRecord alice = record_of(1, KeyClass::kUser);
  EXPECT_EQ(allowed(limits, alice, 20, kStart), 10);
  EXPECT_EQ(allowed(limits, alice, 20, kStart - std::chrono::minutes(1)), 0);
  EXPECT_EQ(allowed(limits, alice, 20, kStart), 0);
}

TEST(RateLimits, ClassesHaveTheirOwn) {
  RateLimitOptions options;
  options.user_key = {1, 3};
  options.service_key = {1, 5};
  RateLimits limits(options);
  EXPECT_EQ(allowed(limits, record_of(1, KeyClass::kUser), 9, kStart), 3);
  EXPECT_EQ(allowed(limits, record_of(2, KeyClass::kService), 9, kStart), 5);
  EXPECT_EQ(allowed(limits, record_of(3, KeyClass::kKadmin), 9, kStart), 5);
  EXPECT_EQ(allowed(limits, record_of(4, KeyClass::kCrossRealm), 9, kStart), 5);
  EXPECT_EQ(allowed(limits, record_of(5, KeyClass::kKrbtgt), 9, kStart), 9);
}

TEST(RateLimits, AgentsAreCountedApart) {
  RateLimitOptions options;
  options.agent = {10, 4};
  RateLimits limits(options);
  const KeyRecord tgt = record_of(1, KeyClass::kKrbtgt);
  EXPECT_EQ(allowed(limits, tgt, 9, kStart, 1), 4);
  EXPECT_EQ(allowed(limits, tgt, 3, kStart, 2), 3);
  EXPECT_EQ(limits.count(2, nullptr, kStart), RateVerdict::kAllowed);
  EXPECT_EQ(limits.count(2, nullptr, kStart), RateVerdict::kAgentTooOften);
  const auto agents = limits.agents();
  ASSERT_EQ(agents.size(), 2u);
  EXPECT_EQ(agents[0].asked, 9u);
  EXPECT_EQ(agents[0].refused, 5u);
  EXPECT_EQ(agents[1].asked, 5u);
  EXPECT_EQ(agents[1].refused, 1u);
}

// A flood of keys makes nobody forget how often one was asked for.
TEST(RateLimits, AnActiveKeysLimitIsNeverLoosened) {
  RateLimits limits = of_users({1, 20});
  const KeyRecord watched = record_of(0, KeyClass::kUser);
  std::mt19937_64 rng(5);
  double own = 0;
  auto now = kStart;
  for (int step = 0; step < 200; ++step) {
    const auto passed = milliseconds(rng() % 900);
    now += passed;
    own = std::max(0.0, own - 1e-3 * static_cast<double>(passed.count()));
    for (std::uint64_t k = 0; k < 2 * KeyRates::kBuckets / 200; ++k)
      allowed(limits, record_of(rng(), KeyClass::kUser), 3, now);
    own += allowed(limits, watched, 3, now);
    ASSERT_LE(own, 20 + 1e-6) << step;
  }
  EXPECT_GT(limits.keys_refused(), 0u);
}

// Keys within their limits go on beside many that are beyond theirs.
TEST(RateLimits, OthersAreNotRefusedForIt) {
  RateLimits limits = of_users({1, 50});
  for (std::uint64_t hot = 0; hot < 200; ++hot)
    EXPECT_GE(allowed(limits, record_of(1'000'000 + hot, KeyClass::kUser), 60, kStart), 49);
  int refused = 0;
  for (std::uint64_t k = 0; k < 20'000; ++k)
    refused += 1 - allowed(limits, record_of(k, KeyClass::kUser), 1, kStart);
  // (200 / 2^14)^4 each, were nothing else in the buckets.
  EXPECT_LE(refused, 1);
}

TEST(RateLimits, WithoutLimitsAllIsAllowedAndCounted) {
  RateLimits limits((RateLimitOptions()));
  EXPECT_EQ(allowed(limits, record_of(1, KeyClass::kUser), 5000, kStart), 5000);
  EXPECT_EQ(limits.agents().at(0).asked, 5000u);
}

}  // namespace
}  // namespace tkdc
