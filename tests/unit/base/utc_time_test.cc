// SPDX-License-Identifier: Apache-2.0
// Times as administrators write them and as they are shown to them.
#include "base/utc_time.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <utility>

namespace tkdc {
namespace {

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

TEST(UtcTime, OfNamesOfFiles) {
  for (const std::int64_t s : {std::int64_t{1}, std::int64_t{1'709'251'199}})
    EXPECT_EQ(parse_utc_compact(format_utc_compact(s)), s);
  for (const char* text : {"", "20240229T235959", "20230229T235959Z", "20240229T235959Zx"})
    EXPECT_EQ(parse_utc_compact(text), std::nullopt) << text;
}

TEST(UtcTime, WhatAdministratorsWrite) {
  constexpr std::int64_t kReadAt = 1'795'302'000;
  const std::pair<const char*, std::int64_t> kTimes[] = {{"now", kReadAt},
                                                         {"90s", kReadAt - 90},
                                                         {"-30m", kReadAt - 1800},
                                                         {"2h", kReadAt - 7200},
                                                         {"7d", kReadAt - 604'800},
                                                         {"1970-01-02", 86'400},
                                                         {"2024-02-29T23:59:59Z", 1'709'251'199},
                                                         {"2024-02-29 23:59", 1'709'251'140}};
  for (const auto& [text, s] : kTimes) {
    auto parsed = parse_utc(text, kReadAt);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(*parsed, s) << text;
  }
  for (const char* text : {"", "-", "h", "-h", "2", "2x", "--2h", "2.5h", "9999999999d", "Now",
                           "2023-02-29", "2024-13-01", "2024-02-29T24:10", "2024-02-29T23:59:59+01",
                           "2024-02-29T23:59:59ZZ", "yesterday"})
    EXPECT_FALSE(parse_utc(text, kReadAt).ok()) << text;
}

TEST(UtcTime, KnownTexts) {
  EXPECT_EQ(format_utc(1'709'251'199), "2024-02-29T23:59:59Z");
  EXPECT_EQ(format_utc_spaced(1'709'251'199), "2024-02-29 23:59:59 UTC");
  EXPECT_EQ(format_utc_compact(1'709'251'199), "20240229T235959Z");
  EXPECT_EQ(format_utc_spaced(0), "1970-01-01 00:00:00 UTC");
}

TEST(UtcTime, MillisecondsHaveThreeDigits) {
  EXPECT_EQ(format_utc_ms(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_utc_ms(1'709'251'199'007), "2024-02-29T23:59:59.007Z");
  EXPECT_EQ(format_utc_ms(1'709'251'199'070), "2024-02-29T23:59:59.070Z");
  EXPECT_EQ(format_utc_ms(1'709'251'199'999), "2024-02-29T23:59:59.999Z");
  EXPECT_EQ(format_utc_ms(-1), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(format_utc_ms(-1'000), "1969-12-31T23:59:59.000Z");
}

TEST(UtcTime, YearsThatNoCalendarHas) {
  EXPECT_EQ(format_utc(std::numeric_limits<std::int64_t>::max()), "?");
  EXPECT_EQ(format_utc_spaced(std::numeric_limits<std::int64_t>::min()), "?");
  EXPECT_EQ(format_utc_spaced(67'767'976'233'532'799), "2147483647-12-31 23:59:59 UTC");
}

TEST(UtcTime, NowIsBetweenBeforeAndAfter) {
  const std::int64_t before = now_ms();
  const std::string now = utc_now_ms();
  const std::int64_t after = now_ms();
  EXPECT_LE(format_utc_ms(before), now);
  EXPECT_LE(now, format_utc_ms(after));
}

}  // namespace
}  // namespace tkdc
