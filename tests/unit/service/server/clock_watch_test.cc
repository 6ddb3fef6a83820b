// SPDX-License-Identifier: Apache-2.0
// Whose clock is wrong, and how much of it is an error.
#include "service/server/clock_watch.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "service/server/alarms.h"

namespace tkdc {
namespace {

constexpr std::int64_t kLimit = kClockToleranceMs;

TEST(ClockWatch, NamesTheServerWhoseClockItIs) {
  struct Case {
    ClocksAhead ahead;  // of server 1: server 0's, server 2's
    const char* whose;
    bool error;
  };
  const Case cases[] = {
      {{std::nullopt, std::nullopt}, "", false},
      {{0, 0}, "", false},
      {{kLimit / 3, -kLimit / 3}, "", false},
      {{kLimit / 3 + 1, 0}, "server 0's clock is 42 s ahead of this server's", false},
      {{0, -kLimit}, "server 2's clock is 128 s behind this server's", false},
      {{std::nullopt, kLimit + 1}, "server 2's clock is 128 s ahead of this server's", true},
      {{kLimit + 1000, kLimit + 1000}, "this server's clock is 129 s behind both others'", true},
      {{-200'000, -201'000}, "this server's clock is 200 s ahead of both others'", true},
      {{-200'000, 200'000}, "server 2's clock is 200 s ahead of this server's", true},
  };
  for (const Case& one : cases) {
    const ClockAlarm alarm = clock_alarm(1, one.ahead);
    EXPECT_EQ(alarm.text.find(one.whose), 0u) << alarm.text;
    EXPECT_EQ(alarm.text.empty(), *one.whose == 0) << alarm.text;
    EXPECT_EQ(alarm.error, one.error) << alarm.text;
    nlohmann::json json;
    tell_clocks(json, 1, one.ahead);
    EXPECT_EQ(json.contains("clock_error"), one.error);
    EXPECT_EQ(json.contains("clock_warning"), *one.whose != 0 && !one.error);
  }
}

TEST(ClockWatch, OfTwoServersItIsTheOtherOnes) {
  for (int party : {0, 1}) {
    const std::string whose = "server " + std::to_string(1 - party) + "'s clock is 60 s behind";
    EXPECT_EQ(clock_alarm({party, 2}, {std::nullopt, -60'000}).text.find(whose), 0u) << party;
  }
}

TEST(ClockWatch, IsSaidOnceAnHourAtOnceWhenItGetsWorseAndWhenItIsOver) {
  std::vector<std::string> said;
  Alarms alarms([&](const std::string& line) { said.push_back(line); });
  Alarms::Clock::time_point now{};
  const auto look = [&](std::int64_t ahead_ms, std::chrono::minutes later) {
    now += later;
    alarms.look(0, {0, ahead_ms}, now);
    return said.size();
  };
  using std::chrono::minutes;
  EXPECT_EQ(look(0, minutes(0)), 0u);
  EXPECT_EQ(look(60'000, minutes(1)), 1u);
  EXPECT_EQ(look(61'000, minutes(1)), 1u);
  EXPECT_EQ(look(200'000, minutes(1)), 2u);
  EXPECT_EQ(look(200'000, minutes(59)), 2u);
  EXPECT_EQ(look(200'000, minutes(1)), 3u);
  EXPECT_EQ(look(0, minutes(1)), 4u);
  EXPECT_EQ(said.back(), "the servers' clocks agree again");
  EXPECT_EQ(look(0, minutes(100)), 4u);
  EXPECT_EQ(look(60'000, minutes(1)), 5u);
}

}  // namespace
}  // namespace tkdc
