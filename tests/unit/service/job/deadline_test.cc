// SPDX-License-Identifier: Apache-2.0
// Time in the job service: jobs that wait for a server, jobs that run past their
// deadline, and a disk that is slower than a lane's patience.
#include "three_services.h"

namespace tkdc {
namespace {

using std::chrono::milliseconds;

// One millisecond between tries would be several hundred rounds.
TEST(Deadline, AJobThatAServerLacksIsNamedMoreAndMoreRarely) {
  ThreeServices e(1);
  KeyRef ref = e.make_key("krbtgt/R@R", 18, {});
  const std::uint64_t before = e.service(0).status().rounds;
  e.send({TKDC_OP_SEAL, ref, 2, {}, some_bytes(100)}, nullptr, 0);
  std::this_thread::sleep_for(milliseconds(800));
  const std::uint64_t tries = e.service(0).status().rounds - before;
  EXPECT_GT(tries, 20u) << "it is not named again at all";
  EXPECT_LT(tries, 250u);
}

TEST(Deadline, AJobThatOneServerGetsLateStillRuns) {
  ThreeServices e;
  KeyRef ref = e.make_key("krbtgt/R@R", 18, {});
  JobRequest late;
  JobName name = e.send({TKDC_OP_SEAL, ref, 2, {}, some_bytes(100)}, [&](int p, JobRequest& r) {
    if (p != 2) return;
    late = r;
    r.name.run++;  // to server 2 it is another one's
  });
  std::this_thread::sleep_for(milliseconds(200));
  late.name = name;
  e.service(2).submit(AgentRole::kKdc, std::move(late));
  EXPECT_EQ(e.wait(name).status(), TKDC_STATUS_OK);
}

TEST(Deadline, AnAdmittedJobIsAnsweredAtItsDeadlineAndTheLaneGoesOn) {
  // Semi-honest, so that a sanitizer's build is through in time.
  ThreeServices e(1, 1, std::uint64_t{1} << 38, 0, Security::kSemiHonest);
  KeyRef ref = e.make_key("host/a@R", 18, some_bytes(32));
  // 512 blocks one after the other: some 20,000 rounds.
  JobName name = e.send({TKDC_OP_SEAL, ref, 2, {}, some_bytes(8000)},
                        [](int, JobRequest& r) { r.deadline_ms = 60; });
  Answer late = e.wait(name);
  EXPECT_EQ(late.status(), TKDC_STATUS_UNAVAILABLE);
  for (int p = 0; p < 3; ++p) {
    EXPECT_NE(late.reply[p].message.find("deadline"), std::string::npos) << late.reply[p].message;
    EXPECT_TRUE(late.reply[p].output.empty());
    EXPECT_EQ(e.service(p).status().jobs_late, 0u) << "answered before it was through";
  }
  EXPECT_EQ(e.run({TKDC_OP_SEAL, ref, 2, {}, some_bytes(50)}).status(), TKDC_STATUS_OK);
  auto through = [&] { return e.service(0).status().jobs_late == 1; };
  for (int k = 0; k < 5000 && !through(); ++k) std::this_thread::sleep_for(milliseconds(20));
  EXPECT_TRUE(through());
  EXPECT_EQ(e.run({TKDC_OP_SEAL, ref, 2, {}, some_bytes(50)}).status(), TKDC_STATUS_OK);
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(e.service(p).status().jobs_late, 1u);
    std::size_t recorded = 0;
    for (const std::string& line : e.audit(p))
      recorded += line.find("finished after its deadline") != std::string::npos;
    EXPECT_EQ(recorded, 1u);
  }
  EXPECT_EQ(e.answers_to(name), 3) << "one answer from each, not a second one at its end";
}

TEST(Deadline, ADiskSlowerThanALanesPatienceDoesNotEndTheSession) {
  ThreeServices e(2);
  KeyRef tgt = e.make_key("krbtgt/R@R", 18, {});
  e.disk(1).prepare_ms = 5'500;
  KeyRef ref = tgt;
  ref.id[0] ^= 1;
  ref.principal = {};
  const std::uint8_t drawn = TKDC_ORIGIN_DRAWN;
  ASSERT_EQ(e.run({TKDC_OP_STAGE, ref, 0, {drawn}, {}, AgentRole::kAdmin}).status(),
            TKDC_STATUS_OK);
  ref.principal = digest_of("alice@R");
  JobName bind = e.send(ThreeServices::bind_job(ref, "alice@R"),
                        [](int, JobRequest& r) { r.deadline_ms = 20'000; });
  std::this_thread::sleep_for(milliseconds(5'200));
  EXPECT_EQ(e.run({TKDC_OP_SEAL, tgt, 2, {}, some_bytes(100)}).status(), TKDC_STATUS_OK);
  EXPECT_EQ(e.wait(bind).status(), TKDC_STATUS_OK);
  for (int p = 0; p < 3; ++p) EXPECT_TRUE(e.service(p).status().session_up);
}

TEST(Deadline, NorDoesItWhereOneLaneDoesAll) {
  ThreeServices e(1);
  e.disk(2).prepare_ms = 5'500;
  KeyRef tgt = e.make_key("krbtgt/R@R", 18, {});
  EXPECT_EQ(e.run({TKDC_OP_SEAL, tgt, 2, {}, some_bytes(100)}).status(), TKDC_STATUS_OK);
  for (int p = 0; p < 3; ++p) EXPECT_TRUE(e.service(p).status().session_up);
}

}  // namespace
}  // namespace tkdc
