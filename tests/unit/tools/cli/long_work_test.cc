// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM stop what is watched, and not the program before it has undone it.
#include "tools/cli/long_work.h"

#include <gtest/gtest.h>
#include <signal.h>

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

}  // namespace
}  // namespace tkdc::cli
