// SPDX-License-Identifier: Apache-2.0
// What bounds garbling in a lane: one key's or one agent's flood, which leaves some to others; what
// one job holds; what a server sends; circuits that cannot be laid out.
#include "garbling_services.h"

namespace tkdc::garbling_lanes {
namespace {

// One agent, or one key, asks as fast as it can; another one's operations of the same kind are
// garbled meanwhile, one after the other.
struct Flood {
  static constexpr std::uint64_t kQuiet = 7;
  // Beside others' checks; krbtgt's MAC by sharing takes some sixty.
  static constexpr std::uint32_t kGarbledRounds = 40;

  GarblingServices e;
  std::uint64_t flooded = 0;

  // By one key, of the same agent; or by another agent, with krbtgt's key, which both use.
  explicit Flood(bool by_key) : by_(by_key ? kQuiet : kQuiet + 1) {
    if (by_key) {
      flood_ = e.mac(data_);
      quiet_ = flood_;
      quiet_.key = e.make_key("host/b.test@A.TEST", 18, e.key);
    } else {
      const KeyRef own = e.make_key("krbtgt/A.TEST@A.TEST", 18, {});
      flood_ = quiet_ = {TKDC_OP_MAC, own, usage::kPacSignature, {}, data_};
    }
    // Both have asked before: the kind is there, and neither is alone.
    sum_ = e.wait(send(flood_, by_)).output();
    EXPECT_TRUE(e.ready(1));
    EXPECT_EQ(e.wait(send(quiet_, kQuiet)).output(), sum_);
    EXPECT_TRUE(e.ready(1));
  }
  // How many of so many operations of the quiet one were garbled.
  int quiet_ones(int operations) {
    int garbled = 0;
    for (int k = 0; k < operations; ++k) {
      std::vector<JobName> names;
      const std::uint64_t before = decided();
      while (names.size() < 12) names.push_back(send(flood_, by_));
      while (decided() < before + names.size()) std::this_thread::yield();
      const Answer answer = e.wait(send(quiet_, kQuiet));
      EXPECT_EQ(answer.output(), sum_);
      garbled += rounds(answer) <= kGarbledRounds ? 1 : 0;
      for (const JobName& name : names) {
        const Answer of_flood = e.wait(name);
        EXPECT_EQ(of_flood.output(), sum_);
        flooded += rounds(of_flood) <= kGarbledRounds ? 1 : 0;
      }
      EXPECT_TRUE(e.ready(1));
    }
    return garbled;
  }

 private:
  // Jobs that have taken an instance, or have not.
  std::uint64_t decided() {
    const JobServiceStatus now = e.service(0).status();
    std::uint64_t all = now.garbled_jobs + now.garbled_missed + now.garbled_key_had;
    for (const auto& [agent, had] : now.garbled_agents_had) all += had;
    return all;
  }
  JobName send(const ThreeServices::Job& job, std::uint64_t agent) {
    JobName name = e.send(job, [agent](int, JobRequest& request) { request.name.agent = agent; });
    name.agent = agent;
    return name;
  }
  const std::uint64_t by_;
  const Bytes data_ = some_bytes(40);
  Bytes sum_;
  ThreeServices::Job flood_, quiet_;
};

TEST(GarblingInLanes, AKeysFloodLeavesSomeToOthers) {
  Flood flood(true);
  EXPECT_EQ(flood.quiet_ones(8), 8);
  EXPECT_GE(flood.flooded, 8u);
  EXPECT_GE(flood.e.service(0).status().garbled_key_had, 1u);
  EXPECT_TRUE(flood.e.service(0).status().garbled_agents_had.empty());
  EXPECT_EQ(flood.e.service(1).status().garbled_key_had, 0u);
}

TEST(GarblingInLanes, AnAgentsFloodLeavesSomeToOthers) {
  Flood flood(false);
  EXPECT_EQ(flood.quiet_ones(8), 8);
  EXPECT_GE(flood.flooded, 8u);
  const auto had = flood.e.service(0).status().garbled_agents_had;
  ASSERT_EQ(had.size(), 1u);
  EXPECT_EQ(had.begin()->first, Flood::kQuiet + 1);
  EXPECT_EQ(flood.e.service(0).status().garbled_key_had, 0u);
}

// Several jobs wait for what is made one by one; krbtgt's OPEN takes its instance ticks later than
// it is let go, and none of them finds that another one has taken it.
TEST(GarblingInLanes, WhatOneHoldsIsNotAnothers) {
  GarblingServices e(1, Use::kAlways, Use::kAlways);
  const KeyRef own = e.make_key("krbtgt/A.TEST@A.TEST", 18, {});
  const Bytes plain = some_bytes(60);
  const Bytes ticket = e.run({TKDC_OP_SEAL, own, usage::kTicket, {}, plain}).output();
  std::vector<JobName> names;
  for (int k = 0; k < 14; ++k)
    names.push_back(e.send({TKDC_OP_OPEN, own, usage::kTicket, {}, ticket}));
  for (const JobName& name : names) EXPECT_EQ(e.wait(name).output(), plain);
  EXPECT_EQ(e.service(0).status().garbled_jobs, 15u);
}

// One server bounds what it sends; what all three make together takes as long as that allows.
TEST(GarblingInLanes, ABoundOnWhatIsSentHolds) {
  GarblingServices e(1, Use::kAuto, Use::kAuto, std::chrono::hours(1), 1);
  const auto began = std::chrono::steady_clock::now();
  const Bytes data = some_bytes(300);
  EXPECT_EQ(e.run(e.mac(data)).output(), e.checksum(data));
  ASSERT_TRUE(e.ready(1));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  const std::uint64_t sent = e.service(1).status().garbled_sent_bytes;
  // Half of four instances of six: megabytes.
  EXPECT_GT(sent, std::uint64_t{4} << 20);
  EXPECT_GE(took.count(), 0.9 * static_cast<double>(sent) / static_cast<double>(kSlowOctets));
  EXPECT_EQ(e.service(0).status().garbled_sent_bytes > 0, true);
}

// A circuit that cannot be laid out is not tried again, and status says why.
TEST(GarblingInLanes, WhatCannotBeLaidOutIsNamed) {
  GarblingServices e(1, Use::kAlways, Use::kAlways);
  const Bytes longest = some_bytes(5000);
  for (int k = 0; k < 2; ++k) EXPECT_EQ(e.run(e.mac(longest)).output(), e.checksum(longest));
  for (int p = 0; p < 3; ++p) {
    const std::vector<std::string> unfit = e.service(p).status().garbled_unfit;
    ASSERT_EQ(unfit.size(), 1u);
    EXPECT_TRUE(unfit[0].starts_with("mac-sha1:5000: ")) << unfit[0];
  }
}

}  // namespace
}  // namespace tkdc::garbling_lanes
