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

}  // namespace
}  // namespace tkdc
