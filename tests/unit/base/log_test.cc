// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

namespace tkdc {
namespace {

// What `write` puts on stderr.
template <class Write>
std::string captured(Write write) {
  testing::internal::CaptureStderr();
  write();
  return testing::internal::GetCapturedStderr();
}

TEST(Log, ALineIsOneLineWithTheProgramsName) {
  unsetenv("JOURNAL_STREAM");
  std::string text =
      captured([] { log_line(LogLevel::kWarning, "a peer said \"x\nroot: all is well\x1b[2J\""); });
  EXPECT_EQ(text, "base_test: a peer said \"x root: all is well [2J\"\n");
  text = captured([] { log_line(LogLevel::kWarning, std::string(100'000, 'a')); });
  EXPECT_LT(text.size(), 3'000u);
}

TEST(Log, AFieldOfTheThreadStandsInItsLinesWhileItLives) {
  unsetenv("JOURNAL_STREAM");
  const auto lines = captured([] {
    {
      const LogField outer("TKDC_REQUEST=1");
      const LogField none("");
      log_line(LogLevel::kError, "about it");
      {
        const LogField inner("TKDC_REQUEST=2");
        log_line(LogLevel::kError, "about another");
      }
      log_line(LogLevel::kError, "about it");
      std::thread([] { log_line(LogLevel::kError, "of another thread"); }).join();
    }
    log_line(LogLevel::kError, "about nothing");
  });
  EXPECT_EQ(lines,
            "base_test: about it, TKDC_REQUEST=1\nbase_test: about another, TKDC_REQUEST=2\n"
            "base_test: about it, TKDC_REQUEST=1\nbase_test: of another thread\n"
            "base_test: about nothing\n");
}

TEST(Log, JsonIsAnObjectALine) {
  unsetenv("JOURNAL_STREAM");
  log_as(LogFormat::kJson);
  const std::string text = captured([] {
    {
      const LogField about("TKDC_REQUEST=1");
      log_event(LogLevel::kWarning, {"alarm", "00"}, "said \"x\ny\" and \xff",
                {"TKDC_SESSION=a=b"});
    }
    log_line(LogLevel::kInfo, "");
  });
  log_as(LogFormat::kText);
  const std::size_t end = text.find('\n');
  auto first = nlohmann::json::parse(text.substr(0, end));
  EXPECT_EQ(first.at("time").get<std::string>().size(), 24u);
  first.erase("time");
  EXPECT_EQ(first, nlohmann::json({{"level", "warning"},
                                   {"program", "base_test"},
                                   {"message", "said \"x y\" and \xef\xbf\xbd"},
                                   {"TKDC_EVENT", "alarm"},
                                   {"MESSAGE_ID", "00"},
                                   {"TKDC_SESSION", "a=b"},
                                   {"TKDC_REQUEST", "1"}}));
  const auto second = nlohmann::json::parse(text.substr(end + 1));
  EXPECT_EQ(second.at("level"), "info");
  EXPECT_FALSE(second.contains("TKDC_REQUEST"));
}

TEST(Log, AFloodIsCounted) {
  std::string text = captured([] {
    for (int k = 0; k < 1'000; ++k) log_line(LogLevel::kError, "again");
    sleep(2);
    const LogField about("TKDC_REQUEST=1");
    log_line(LogLevel::kError, "later");
  });
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 3 * kLogLinesPerSecond);
  EXPECT_NE(text.find("lines of a second left out\n"), std::string::npos) << "of all requests";
  EXPECT_NE(text.find("later"), std::string::npos);
}

}  // namespace
}  // namespace tkdc
