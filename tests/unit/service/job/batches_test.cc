// SPDX-License-Identifier: Apache-2.0
// What the job service says of its batches: operations, the cohorts that they start in, and how
// many share a round.

#include "three_services.h"

namespace tkdc {
namespace {

TEST(Batches, OperationsCohortsAndThoseAtWorkAreCounted) {
  ThreeServices e(1, 1, std::uint64_t{1} << 38, 0, Security::kSemiHonest);
  KeyRef tgt = e.make_key("krbtgt/R@R", 18, {});  // STAGE and BIND
  const JobServiceStatus before = e.service(1).status();
  EXPECT_EQ(before.operations, 2u);
  EXPECT_EQ(before.cohorts, 2u) << "one after the other";
  EXPECT_EQ(e.run({TKDC_OP_OPEN, tgt, 3, {}, some_bytes(60)}).status(), TKDC_STATUS_DENIED);
  EXPECT_EQ(e.service(1).status().operations, 2u) << "what is refused does not start";
  constexpr std::uint64_t kJobs = 20;
  std::vector<JobName> names;
  for (std::uint64_t k = 0; k < kJobs; ++k)
    names.push_back(e.send({TKDC_OP_SEAL, tgt, 2, {}, some_bytes(100)}));
  for (const JobName& name : names) EXPECT_EQ(e.wait(name).status(), TKDC_STATUS_OK);
  for (int p = 0; p < 3; ++p) {
    const JobServiceStatus after = e.service(p).status();
    const std::uint64_t cohorts = after.cohorts - before.cohorts;
    EXPECT_EQ(after.operations, before.operations + kJobs);
    EXPECT_GE(cohorts, 1u);
    EXPECT_LE(cohorts, kJobs);
    // A ticket takes dozens of rounds, each of which counts it; the last may not be counted yet.
    EXPECT_GE(after.operation_rounds - before.operation_rounds, kJobs * 40);
    EXPECT_LE(after.operation_rounds - before.operation_rounds,
              kJobs * (after.rounds - before.rounds + 1));
  }
}

// Of malicious servers alone, and of them while they check something.
TEST(Batches, VerificationsAreCountedByWhatTheyCheckAndTake) {
  for (const Security security : {Security::kMalicious, Security::kSemiHonest}) {
    const bool checks = security == Security::kMalicious;
    const auto began = std::chrono::steady_clock::now();
    ThreeServices e(3, 1, std::uint64_t{1} << 38, 0, security);
    KeyRef tgt = e.make_key("krbtgt/R@R", 18, {});
    std::vector<CheckTotals> before;
    for (int p = 0; p < 3; ++p) before.push_back(e.service(p).status().checks);
    EXPECT_EQ(e.run({TKDC_OP_OPEN, tgt, 3, {}, some_bytes(60)}).status(), TKDC_STATUS_DENIED);
    EXPECT_EQ(e.service(1).status().checks.microseconds, before[1].microseconds) << "refused";
    EXPECT_EQ(e.run({TKDC_OP_SEAL, tgt, 2, {}, some_bytes(100)}).status(), TKDC_STATUS_OK);
    const auto took = std::chrono::steady_clock::now() - began;
    std::vector<std::uint64_t> claims;
    for (int p = 0; p < 3; ++p) {
      const CheckTotals& was = before[static_cast<std::size_t>(p)];
      const CheckTotals now = e.service(p).status().checks;
      EXPECT_EQ(now.microseconds.count() > was.microseconds.count(), checks) << p;
      EXPECT_LE(std::chrono::microseconds(now.microseconds.sum), took * now.microseconds.count());
      claims.push_back(now.claims - was.claims);
    }
    // Of a ticket of seven blocks and more, each of 14 rounds of 16 S-boxes.
    EXPECT_EQ(claims[0] >= 7 * 14 * 16 * 3, checks) << claims[0];
    EXPECT_TRUE(claims[1] == claims[0] && claims[2] == claims[0]);
    EXPECT_EQ(claims[0] == 0, !checks) << claims[0];
  }
}

// What was refused before it began takes no time.
TEST(Batches, WhatOperationsTookAndCameToIsCountedByOperation) {
  ThreeServices e(2, 1, std::uint64_t{1} << 38, 0, Security::kSemiHonest);
  KeyRef tgt = e.make_key("krbtgt/R@R", 18, {});
  const auto began = std::chrono::steady_clock::now();
  Bytes ticket = e.run({TKDC_OP_SEAL, tgt, 2, {}, some_bytes(100)}).output();
  ticket[50] ^= 1;
  EXPECT_EQ(e.run({TKDC_OP_OPEN, tgt, 2, {}, ticket}).status(), TKDC_STATUS_INTEGRITY);
  EXPECT_EQ(e.run({TKDC_OP_OPEN, tgt, 3, {}, some_bytes(60)}).status(), TKDC_STATUS_DENIED);
  const auto took = std::chrono::steady_clock::now() - began;
  for (int p = 0; p < 3; ++p) {
    const JobServiceStatus now = e.service(p).status();
    const auto count = [&](tkdc_wire_op op) { return now.times.by_op[op].microseconds.count(); };
    EXPECT_EQ(count(TKDC_OP_SEAL), 1u);
    EXPECT_EQ(count(TKDC_OP_OPEN), 1u);
    EXPECT_EQ(count(TKDC_OP_STAGE), 1u);
    EXPECT_EQ(count(TKDC_OP_MAC), 0u);
    const auto& seal = now.times.by_op[TKDC_OP_SEAL];
    EXPECT_GT(seal.microseconds.sum, 0u);
    EXPECT_LE(std::chrono::microseconds(seal.microseconds.sum), took);
    EXPECT_GT(seal.rounds.sum, 40u);
    EXPECT_EQ(seal.rounds.counts[RoundHistogram::bucket_of(seal.rounds.sum)], 1u);
    EXPECT_GT(seal.message_bytes.sum, 0u);
    EXPECT_EQ(seal.message_bytes.counts[ByteHistogram::bucket_of(seal.message_bytes.sum)], 1u);
    EXPECT_EQ(now.results[TKDC_STATUS_OK], 3u);
    EXPECT_EQ(now.results[TKDC_STATUS_INTEGRITY], 1u);
    EXPECT_EQ(now.results[TKDC_STATUS_DENIED], 1u);
    EXPECT_EQ(now.jobs_refused(), 2u);
    EXPECT_EQ(now.jobs_failed(), 0u);
    ASSERT_EQ(now.by_lane.size(), 2u);
    EXPECT_EQ(now.by_lane[0].operations, 2u) << "keys are made in lane 0";
    EXPECT_EQ(now.by_lane[1].operations, 2u);
    EXPECT_LE(std::chrono::nanoseconds(now.by_lane[1].busy_ns), took);
  }
}

// Counters of a process: another session begins none anew.
TEST(Batches, ANewSessionGoesOnCounting) {
  ThreeServices e(1, 1, std::uint64_t{1} << 38, 0, Security::kSemiHonest);
  KeyRef tgt = e.make_key("krbtgt/R@R", 18, {});
  e.close_links("cut");
  e.join();
  e.start_session();
  EXPECT_EQ(e.run({TKDC_OP_SEAL, tgt, 2, {}, some_bytes(100)}).status(), TKDC_STATUS_OK);
  const JobServiceStatus now = e.service(2).status();
  ASSERT_EQ(now.by_lane.size(), 1u);
  EXPECT_EQ(now.by_lane[0].operations, 3u);
  EXPECT_EQ(now.results[TKDC_STATUS_OK], 3u);
}

}  // namespace
}  // namespace tkdc
