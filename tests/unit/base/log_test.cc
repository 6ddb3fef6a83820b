// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string>

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

TEST(Log, AFloodIsCounted) {
  std::string text = captured([] {
    for (int k = 0; k < 1'000; ++k) log_line(LogLevel::kError, "again");
    sleep(2);
    log_line(LogLevel::kError, "later");
  });
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 3 * kLogLinesPerSecond);
  EXPECT_NE(text.find("lines of a second left out"), std::string::npos);
  EXPECT_NE(text.find("later"), std::string::npos);
}

}  // namespace
}  // namespace tkdc
