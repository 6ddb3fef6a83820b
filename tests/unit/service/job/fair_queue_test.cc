// SPDX-License-Identifier: Apache-2.0
// One agent's flood makes that agent wait, not the others.
#include "service/job/fair_queue.h"

#include <nlohmann/json.hpp>

#include "three_services.h"

namespace tkdc {
namespace {

constexpr auto kAlways = [](std::uint64_t) { return std::size_t{1'000'000}; };
constexpr auto kAll = [](const JobName&) { return std::optional<std::size_t>(1); };

FairQueue::Room room_for(std::size_t jobs) { return {jobs, 1'000'000}; }

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
  const auto first = queue.take(now, room_for(6), kAlways, kAll);
  EXPECT_EQ(agents_of(first), (std::vector<std::uint64_t>{1, 2, 3, 1, 2, 1}));
  EXPECT_EQ(first[3].number, 1u);
  queue.put({2, 0, 2});
  EXPECT_EQ(agents_of(queue.take(now, room_for(3), kAlways, kAll)),
            (std::vector<std::uint64_t>{2, 1, 1}));
  EXPECT_EQ(queue.take(now, room_for(1'000), kAlways, kAll).size(), 95u);
  EXPECT_FALSE(queue.next_due().has_value());
}

TEST(FairQueue, WhatIsNotDueOrHasNoRoomWaitsAlone) {
  FairQueue queue;
  const auto now = FairQueue::Clock::now(), later = now + std::chrono::seconds(1);
  queue.put({1, 0, 0}, later);
  queue.put({1, 0, 1});
  for (std::uint64_t k = 0; k < 3; ++k) queue.put({2, 0, k});
  const auto room = [](std::uint64_t agent) { return std::size_t{agent == 2 ? 1u : 9u}; };
  const auto names = queue.take(now, room_for(10), room, kAll);
  ASSERT_EQ(agents_of(names), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(names[0].number, 1u);
  EXPECT_TRUE(queue
                  .take(
                      now, room_for(10), [](std::uint64_t) { return std::size_t{0}; }, kAll)
                  .empty());
  EXPECT_EQ(queue.take(later, room_for(10), kAlways, kAll).size(), 3u);
}

TEST(FairQueue, WhatNobodyWaitsForIsDroppedWithoutTakingAPlace) {
  FairQueue queue;
  const auto now = FairQueue::Clock::now();
  for (std::uint64_t k = 0; k < 10; ++k) queue.put({1, 0, k});
  const auto odd = [](const JobName& name) {
    return name.number % 2 == 1 ? std::optional<std::size_t>(1) : std::nullopt;
  };
  const auto one = [](std::uint64_t) { return std::size_t{1}; };
  ASSERT_EQ(queue.take(now, room_for(5), one, odd).size(), 1u);
  const auto rest = queue.take(now, room_for(5), kAlways, odd);
  ASSERT_EQ(rest.size(), 4u);
  EXPECT_EQ(rest[0].number, 3u);
}

TEST(FairQueue, ManyOctetsWaitAndLeaveRoomForOthersJobs) {
  FairQueue queue;
  const auto now = FairQueue::Clock::now();
  for (std::uint64_t k = 0; k < 3; ++k) queue.put({1, 0, k});
  queue.put({2, 0, 0});
  const auto octets = [](const JobName& name) {
    return std::optional<std::size_t>(name.agent == 1 ? 60 : 10);
  };
  EXPECT_EQ(agents_of(queue.take(now, {10, 100}, kAlways, octets)),
            (std::vector<std::uint64_t>{1, 2}));
  EXPECT_TRUE(queue.take(now, {10, 59}, kAlways, octets).empty());
  EXPECT_EQ(queue.take(now, {10, 120}, kAlways, octets).size(), 2u);
}

// Holds all packets back while it is closed: what is sent meanwhile waits together.
class GateRing final : public MemoryRing {
 public:
  void close() {
    std::lock_guard lock(mutex_);
    open_ = false;
  }
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }

 protected:
  void carry(int from, Neighbour to, SecretVector packet) override {
    {
      std::unique_lock lock(mutex_);
      opened_.wait(lock, [this] { return open_; });
    }
    deliver(from, to, std::move(packet));
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = true;
};

std::uint64_t cohort_of(const std::string& line) {
  return nlohmann::json::parse(line)["cohort"].get<std::uint64_t>();
}

// More than may run at once are waiting; the other agent's job is named before most of them.
TEST(FairQueue, AnotherAgentsJobGoesBeforeTheRestOfAFlood) {
  auto gate = std::make_shared<GateRing>();
  ThreeServices e(1, 1, std::uint64_t{1} << 38, 0, Security::kMalicious, gate);
  KeyRef tgt = e.make_key("krbtgt/R@R", 18, {});
  const ThreeServices::Job seal{TKDC_OP_SEAL, tgt, 2, {}, some_bytes(60)};
  gate->close();
  std::vector<JobName> flood;
  for (int k = 0; k < 4'000; ++k) flood.push_back(e.send(seal));
  JobName other = e.send(seal, [](int, JobRequest& r) { r.name.agent = 8; });
  other.agent = 8;
  gate->open();
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
