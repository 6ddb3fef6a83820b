// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM stop what is watched, and not the program before it has undone it; so in
// another process that works for this one.
#include "tools/cli/long_work.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

namespace tkdc::cli {
namespace {

// In a process of its own: what was asked for stays asked for.
void stopped_by(int sign) {
  const Watch watch = watched("MiB", kMebibyte);
  const bool before = watch(0, 5 * kMebibyte);
  ::raise(sign);
  const bool after = watch(kMebibyte, 5 * kMebibyte);
  ::exit(before && !after ? 7 : 8);
}

TEST(LongWork, IsStoppedBySignals) {
  EXPECT_EXIT(stopped_by(SIGINT), testing::ExitedWithCode(7), "");
  EXPECT_EXIT(stopped_by(SIGTERM), testing::ExitedWithCode(7), "");
}

// Ends with what the other process returned.
void by_another(void (*at_fork)(), const std::function<int()>& work) {
  ::pthread_atfork(nullptr, at_fork, nullptr);
  const auto status = in_another_process(work);
  ::exit(status.ok() ? *status : 99);
}

int until_asked() {
  for (int k = 0; k < 300 && !stop_asked(); ++k) {
    const timespec a_bit{0, 10'000'000};
    ::nanosleep(&a_bit, nullptr);
  }
  return stop_asked() ? 5 : 6;
}

TEST(LongWork, OfAnotherProcessIsStoppedWithThisOne) {
  const auto early = [] { ::raise(SIGTERM); };
  EXPECT_EXIT(by_another(early, until_asked), testing::ExitedWithCode(5), "");
  const auto later = [] { ::alarm(1); };
  EXPECT_EXIT(
      {
        ::signal(SIGALRM, [](int) { ::raise(SIGTERM); });
        by_another(later, until_asked);
      },
      testing::ExitedWithCode(5), "");
}

TEST(LongWork, OfAnotherProcessSaysHowItEnded) {
  const auto nothing = [] {};
  EXPECT_EXIT(by_another(nothing, [] { return 3; }), testing::ExitedWithCode(3), "");
  const auto killed = in_another_process([] { return ::raise(SIGKILL); });
  ASSERT_FALSE(killed.ok());
  EXPECT_NE(killed.error().message.find("killed by signal 9"), std::string::npos);
}

}  // namespace
}  // namespace tkdc::cli
