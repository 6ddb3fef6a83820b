// SPDX-License-Identifier: Apache-2.0
#include "storm/schedule.h"

#include <gtest/gtest.h>

#include "storm/recorder.h"

namespace tkdc::storm {
namespace {

TEST(OpenSchedule, EvenMomentsAndClientsInTurn) {
  OpenSchedule s(1000, 5 * kSecond, 6 * kSecond, false, 3, 1);
  EXPECT_FALSE(s.pop(5 * kSecond - 1));
  std::uint64_t n = 0;
  while (auto demand = s.pop(10 * kSecond)) {
    EXPECT_EQ(demand->intended, 5 * kSecond + static_cast<Nanoseconds>(n) * kMs);
    EXPECT_EQ(demand->client, (1 + n) % 3);
    ++n;
  }
  EXPECT_EQ(n, 1000U);
  EXPECT_TRUE(s.over(10 * kSecond));
}

TEST(OpenSchedule, PoissonHasTheRateAndTheSpread) {
  OpenSchedule s(10'000, 0, 20 * kSecond, true, 1);
  double count = 0, gaps = 0;
  Nanoseconds before = 0;
  while (auto demand = s.pop(20 * kSecond)) {
    double gap = static_cast<double>(demand->intended - before) / kMs;
    gaps += gap * gap;
    before = demand->intended;
    ++count;
  }
  EXPECT_NEAR(count, 200'000, 2'500);
  EXPECT_NEAR(gaps / count, 2 * 0.1 * 0.1, 0.001);  // an exponential's second moment
}

// A KDC that answers at once but stands still for a second: one request in
// flight at a time. Had latency counted from sending, one of 1,000 would be slow.
TEST(OpenSchedule, AStandstillIsSeenByAllWhoWaited) {
  OpenSchedule s(1000, 0, 10 * kSecond, false, 1);
  Recorder recorder;
  for (Nanoseconds now = 0; now < 11 * kSecond;) {
    auto demand = s.pop(now);
    if (!demand) {
      now += kMs / 10;
      continue;
    }
    Nanoseconds served = now >= 5 * kSecond && now < 6 * kSecond ? 6 * kSecond : now + kMs / 10;
    recorder.finish(Outcome::kOk, demand->intended, served);
    now = served;
  }
  const Histogram& h = recorder.latency();
  EXPECT_EQ(h.count(), 10'000U);
  EXPECT_LT(h.percentile(50), 1000);
  // About 1,100 waited: a second's arrivals, and those behind them.
  EXPECT_GT(h.percentile(95), 400'000);
  EXPECT_GT(h.percentile(99), 800'000);
  EXPECT_GE(h.max(), 1'000'000);
}

TEST(OpenSchedule, WhatIsNeverSentIsCounted) {
  OpenSchedule s(100, 0, 10 * kSecond, false, 1);
  EXPECT_EQ(s.drop_before(2 * kSecond), 200U);
  EXPECT_EQ(s.pop(10 * kSecond)->intended, 2 * kSecond);
  EXPECT_EQ(s.drop_before(100 * kSecond), 799U);
  EXPECT_TRUE(s.over(0));
}

TEST(ClosedSchedule, AUserAsksAgainAfterTheAnswerAndThePause) {
  ClosedSchedule s(2, 10 * kMs, 0, kSecond);
  EXPECT_EQ(s.pop(0)->client, 0U);
  EXPECT_EQ(s.pop(0)->client, 1U);
  EXPECT_FALSE(s.pop(500 * kMs));
  s.finished(1, 500 * kMs);
  EXPECT_FALSE(s.pop(509 * kMs));
  EXPECT_EQ(*s.next(), 510 * kMs);
  EXPECT_EQ(s.pop(510 * kMs)->client, 1U);
  s.finished(0, 995 * kMs);
  EXPECT_FALSE(s.pop(1005 * kMs));
  EXPECT_TRUE(s.over(kSecond));
}

TEST(Ramp, FindsTheHighestRateThatPasses) {
  Ramp ramp(100, 2, 6, 1e6);
  int steps = 0;
  while (auto rate = ramp.next()) {
    ramp.judge(*rate <= 1234);
    ++steps;
  }
  EXPECT_LE(ramp.best(), 1234);
  EXPECT_GT(ramp.best(), 0.97 * 1234);
  EXPECT_LE(steps, 5 + 6);
}

TEST(Ramp, EndsAtItsLimitAndWhenNothingPasses) {
  Ramp easy(100, 2, 3, 500);
  int steps = 0;
  for (; easy.next(); ++steps) easy.judge(true);
  EXPECT_EQ(easy.best(), 500);
  EXPECT_EQ(steps, 4);
  Ramp hopeless(100, 2, 3, 500);
  for (steps = 0; hopeless.next(); ++steps) hopeless.judge(false);
  EXPECT_EQ(hopeless.best(), 0);
  EXPECT_EQ(steps, 4);
}

TEST(Recorder, OutcomesAreKeptApart) {
  Recorder r;
  ++r.counts().sent;
  r.finish(Outcome::kOk, 0, 3 * kMs);
  r.finish(Outcome::kRefused, 0, 4 * kMs);
  r.finish(Outcome::kLost, 0, 15 * kSecond);
  r.tick(7, 2);
  r.finish(Outcome::kError, 0, kMs);
  r.finish(Outcome::kWrong, 0, kMs);
  Counts c = r.totals();
  EXPECT_EQ(c.ok + c.refused + c.lost + c.errors + c.wrong, 5U);
  EXPECT_EQ(r.latency().count(), 1U);
  EXPECT_EQ(r.refusals().max(), 4001);
  EXPECT_EQ(r.seconds().at(0).counts.lost, 1U);
  EXPECT_EQ(r.seconds().at(0).p50_us, 3001);
}

}  // namespace
}  // namespace tkdc::storm
