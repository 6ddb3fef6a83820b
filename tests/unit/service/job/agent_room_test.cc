// SPDX-License-Identifier: Apache-2.0
// One agent's flood narrows the room of all that share a lane, until jobs are quick again.
#include "service/job/agent_room.h"

#include <gtest/gtest.h>

namespace tkdc {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr auto kHad = seconds(4);
constexpr unsigned kRounds = 1'000;
const auto kStart = AgentRoom::Clock::time_point(seconds(1'000));

struct Lane {
  explicit Lane(milliseconds alone) : now(kStart) {
    room.asked(1, now);
    run(8, alone);  // the shortest rounds
    room.asked(2, now);
  }

  // So many jobs at once, beside those before.
  void run(int jobs, milliseconds each, unsigned rounds = kRounds) {
    const auto started = now;
    now += each;
    for (int k = 0; k < jobs; ++k) room.ended({started, kHad, rounds}, now);
  }
  std::size_t room_of(std::uint64_t agent) const { return room.of(agent, now); }

  AgentRoom room;
  AgentRoom::Clock::time_point now;
};

TEST(AgentRoom, AnAgentAloneKeepsAllOfIt) {
  AgentRoom room;
  room.asked(1, kStart);
  EXPECT_EQ(room.of(1, kStart), AgentRoom::kMost);
  EXPECT_EQ(room.of(2, kStart), AgentRoom::kLeast);
  room.asked(2, kStart + minutes(1));
  EXPECT_EQ(room.of(1, kStart + minutes(11)), AgentRoom::kLeast);
  EXPECT_EQ(room.of(1, kStart + minutes(12)), AgentRoom::kMost);
}

TEST(AgentRoom, QuickJobsWidenItSlowly) {
  Lane lane(milliseconds(50));
  EXPECT_EQ(lane.room_of(1), AgentRoom::kLeast + 1);
  lane.run(80, milliseconds(120));
  EXPECT_EQ(lane.room_of(1), AgentRoom::kLeast + 11);
  lane.run(100'000, milliseconds(120));
  EXPECT_EQ(lane.room_of(1), AgentRoom::kMost);
}

TEST(AgentRoom, EachGenerationOfSlowJobsHalvesItOnce) {
  Lane lane(milliseconds(50));
  lane.run(100'000, milliseconds(50));
  lane.run(1'000, milliseconds(500));
  EXPECT_EQ(lane.room_of(1), 768u);
  lane.run(1'000, milliseconds(300));
  EXPECT_EQ(lane.room_of(2), 384u);
  for (int k = 0; k < 5; ++k) lane.run(1, seconds(2));
  EXPECT_EQ(lane.room_of(1), AgentRoom::kLeast);
}

// Started before it was narrowed: they are slow for a reason that is mended already.
TEST(AgentRoom, JobsOfTheGenerationBeforeCountOnce) {
  Lane lane(milliseconds(50));
  lane.run(100'000, milliseconds(50));
  const auto started = lane.now;
  lane.run(1, milliseconds(500));
  lane.room.ended({started, kHad, kRounds}, lane.now + seconds(1));
  EXPECT_EQ(lane.room_of(1), 768u);
}

TEST(AgentRoom, BetweenTheTwoItStays) {
  Lane lane(milliseconds(50));
  lane.run(1'000, milliseconds(200));
  EXPECT_EQ(lane.room_of(1), AgentRoom::kLeast + 1);
}

// Half a second for a job, however few there are: a thousand rounds to servers far away.
TEST(AgentRoom, DistanceDoesNotNarrowIt) {
  Lane lane(milliseconds(500));
  lane.run(1'000, milliseconds(900));
  EXPECT_EQ(lane.room_of(1), AgentRoom::kLeast + 1 + 125);
  lane.run(1, milliseconds(1'100));
  EXPECT_EQ(lane.room_of(1), (AgentRoom::kLeast + 126) / 2);
}

// What takes few rounds waits for other things than rounds.
TEST(AgentRoom, AShortJobSaysNothing) {
  Lane lane(milliseconds(50));
  lane.run(1'000, seconds(2), AgentRoom::kMeasured - 1);
  lane.run(1'000, milliseconds(0), 0);
  EXPECT_EQ(lane.room_of(1), AgentRoom::kLeast + 1);
}

}  // namespace
}  // namespace tkdc
