// SPDX-License-Identifier: Apache-2.0
// One agent's flood narrows the room of all that share a lane, until rounds are short again.
#include "service/job/agent_room.h"

#include <gtest/gtest.h>

namespace tkdc {
namespace {

using std::chrono::microseconds;
using std::chrono::minutes;

constexpr unsigned kRounds = 1'000;
const auto kStart = AgentRoom::Clock::time_point(std::chrono::seconds(10'000));

struct Lane {
  explicit Lane(microseconds alone) : now(kStart) {
    room.asked(1, now);
    run(8, alone);  // the shortest rounds
    room.asked(2, now);
  }

  // So many jobs at once, beside those before, with rounds of this length.
  void run(int jobs, microseconds round, unsigned rounds = kRounds) {
    const auto started = now;
    now += rounds * round;
    for (int k = 0; k < jobs; ++k) room.ended(started, rounds, now);
  }
  std::size_t room_of(std::uint64_t agent) const { return room.of(agent, now); }

  AgentRoom room;
  AgentRoom::Clock::time_point now;
};

TEST(AgentRoom, AnAgentAloneKeepsAllOfIt) {
  AgentRoom room;
  room.asked(1, kStart);
  EXPECT_EQ(room.of(1, kStart), AgentRoom::kMost);
  EXPECT_EQ(room.of(2, kStart), AgentRoom::kFirst);
  room.asked(2, kStart + minutes(1));
  EXPECT_EQ(room.of(1, kStart + minutes(11)), AgentRoom::kFirst);
  EXPECT_EQ(room.of(1, kStart + minutes(12)), AgentRoom::kMost);
}

TEST(AgentRoom, ShortRoundsWidenItSlowly) {
  Lane lane(microseconds(50));
  EXPECT_EQ(lane.room_of(1), AgentRoom::kFirst + 1);
  lane.run(80, microseconds(150));
  EXPECT_EQ(lane.room_of(1), AgentRoom::kFirst + 11);
  lane.run(100'000, microseconds(150));
  EXPECT_EQ(lane.room_of(1), AgentRoom::kMost);
}

TEST(AgentRoom, EachGenerationOfLongRoundsHalvesItOnce) {
  Lane lane(microseconds(50));
  lane.run(100'000, microseconds(50));
  lane.run(1'000, microseconds(500));
  EXPECT_EQ(lane.room_of(1), 768u);
  lane.run(1'000, microseconds(410));
  EXPECT_EQ(lane.room_of(2), 384u);
  for (int k = 0; k < 5; ++k) lane.run(1, microseconds(2'000));
  EXPECT_EQ(lane.room_of(1), AgentRoom::kLeast);
}

// Started before it was narrowed: they are slow for a reason that is mended already.
TEST(AgentRoom, JobsOfTheGenerationBeforeCountOnce) {
  Lane lane(microseconds(50));
  lane.run(100'000, microseconds(50));
  const auto started = lane.now;
  lane.run(1, microseconds(500));
  lane.room.ended(started, kRounds, lane.now + std::chrono::seconds(1));
  EXPECT_EQ(lane.room_of(1), 768u);
}

TEST(AgentRoom, BetweenTheTwoItStays) {
  Lane lane(microseconds(50));
  lane.run(1'000, microseconds(300));
  EXPECT_EQ(lane.room_of(1), AgentRoom::kFirst + 1);
}

// A job of many rounds is none of long ones: FAST's keys take ten times as many as a ticket.
TEST(AgentRoom, HowManyRoundsAJobTakesChangesNothing) {
  Lane lane(microseconds(50));
  lane.run(80, microseconds(150), 10'000);
  EXPECT_EQ(lane.room_of(1), AgentRoom::kFirst + 11);
}

// A round of milliseconds, however few share it: servers far away.
TEST(AgentRoom, DistanceDoesNotNarrowIt) {
  Lane lane(microseconds(5'000));
  lane.run(1'000, microseconds(9'000));
  EXPECT_EQ(lane.room_of(1), AgentRoom::kFirst + 1 + 125);
  lane.run(1, microseconds(11'000));
  EXPECT_EQ(lane.room_of(1), (AgentRoom::kFirst + 126) / 2);
}

// By another route rounds are longer for good: within an hour they are what is usual.
TEST(AgentRoom, TheShortestRoundIsMeasuredAnew) {
  Lane lane(microseconds(5'000));
  lane.run(1, microseconds(12'000));
  EXPECT_EQ(lane.room_of(1), (AgentRoom::kFirst + 1) / 2);
  lane.now += AgentRoom::kMeasuredAnew;
  for (const std::uint64_t agent : {1, 2}) lane.room.asked(agent, lane.now);
  lane.run(80, microseconds(12'000));
  EXPECT_EQ(lane.room_of(2), (AgentRoom::kFirst + 1) / 2 + 10);
}

// What takes few rounds waits for other things than rounds.
TEST(AgentRoom, AShortJobSaysNothing) {
  Lane lane(microseconds(50));
  lane.run(1'000, microseconds(2'000), AgentRoom::kMeasured - 1);
  lane.run(1'000, microseconds(2'000), 0);
  EXPECT_EQ(lane.room_of(1), AgentRoom::kFirst + 1);
}

}  // namespace
}  // namespace tkdc
