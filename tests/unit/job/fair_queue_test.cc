// SPDX-License-Identifier: Apache-2.0
// One agent's flood makes that agent wait, not the others.
#include "job/fair_queue.h"

#include <nlohmann/json.hpp>

#include "engines.h"

namespace tkdc {
namespace {

constexpr auto kAlways = [](std::uint64_t) { return std::size_t{1'000'000}; };

std::vector<std::uint64_t> agents_of(const std::vector<JobName>& names) {
  std::vector<std::uint64_t> out;
  for (const JobName& name : names) out.push_back(name.agent);
  return out;
}

TEST(FairQueue, AgentsTakeTurnsAndEachOnesOrderStays) {
  FairQueue queue;
  const auto now = FairQueue::Clock::now();
  for (std::uint64_t k = 0; k < 100; ++k) queue.put({1, 0, k});
  for (std::uint64_t k = 0; k < 2; ++k) queue.put({2, 0, k});
  queue.put({3, 0, 0});
  const auto first = queue.take(now, 6, kAlways);
  EXPECT_EQ(agents_of(first), (std::vector<std::uint64_t>{1, 2, 3, 1, 2, 1}));
  EXPECT_EQ(first[3].number, 1u);
  queue.put({2, 0, 2});
  EXPECT_EQ(agents_of(queue.take(now, 3, kAlways)), (std::vector<std::uint64_t>{2, 1, 1}));
  EXPECT_EQ(queue.take(now, 1'000, kAlways).size(), 95u);
  EXPECT_FALSE(queue.next_due().has_value());
}

TEST(FairQueue, WhatIsNotDueOrHasNoRoomWaitsAlone) {
  FairQueue queue;
  const auto now = FairQueue::Clock::now(), later = now + std::chrono::seconds(1);
  queue.put({1, 0, 0}, later);
  queue.put({1, 0, 1});
  for (std::uint64_t k = 0; k < 3; ++k) queue.put({2, 0, k});
  const auto room = [](std::uint64_t agent) { return std::size_t{agent == 2 ? 1u : 9u}; };
  const auto names = queue.take(now, 10, room);
  ASSERT_EQ(agents_of(names), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(names[0].number, 1u);
  EXPECT_TRUE(queue.take(now, 10, [](std::uint64_t) { return std::size_t{0}; }).empty());
  EXPECT_EQ(queue.take(later, 10, kAlways).size(), 3u);
}

std::uint64_t cohort_of(const std::string& line) {
  return nlohmann::json::parse(line)["cohort"].get<std::uint64_t>();
}

// More than may run at once are waiting; the other agent's job is named before most of them.
TEST(FairQueue, AnotherAgentsJobGoesBeforeTheRestOfAFlood) {
  Engines e(1);
  KeyRef tgt = e.make_key("krbtgt/R@R", 18, {});
  const Engines::Job seal{TKDC_OP_SEAL, tgt, 2, {}, some_bytes(60)};
  std::vector<JobName> flood;
  for (int k = 0; k < 4'000; ++k) flood.push_back(e.send(seal));
  JobName other = e.send(seal, [](int, JobRequest& r) { r.name.agent = 8; });
  other.agent = 8;
  EXPECT_EQ(e.wait(other).status(), TKDC_STATUS_OK);
  for (const JobName& name : flood) EXPECT_EQ(e.wait(name).status(), TKDC_STATUS_OK);
  std::uint64_t others = 0, last = 0;
  for (const std::string& line : e.audit(0)) {
    const bool its = line.find("\"agent\":\"0800000000000000\"") != std::string::npos;
    (its ? others : last) = std::max(its ? others : last, cohort_of(line));
  }
  EXPECT_GT(others, 0u);
  EXPECT_LT(others + 3, last) << "it waited for the whole flood";
}

}  // namespace
}  // namespace tkdc
