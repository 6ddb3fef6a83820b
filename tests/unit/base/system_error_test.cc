// SPDX-License-Identifier: Apache-2.0
#include "base/system_error.h"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace tkdc {
namespace {

TEST(SystemError, SaysWhatAndWhy) {
  ASSERT_LT(::open("/none/at/all", O_RDONLY | O_CLOEXEC), 0);
  EXPECT_EQ(system_error("cannot open /none").message,
            "cannot open /none: No such file or directory");
  errno = EACCES;
  EXPECT_EQ(system_error("cannot open /none").message, "cannot open /none: Permission denied");
}

TEST(SystemError, AdviceStandsAtTheEnd) {
  errno = EMFILE;
  EXPECT_EQ(system_error("no socket", "raise LimitNOFILE").message,
            "no socket: Too many open files; raise LimitNOFILE");
}

TEST(SystemError, OfAFunctionThatReturnsTheNumber) {
  errno = EACCES;
  EXPECT_EQ(system_error("x", {}, ENOENT).message, "x: No such file or directory");
  EXPECT_EQ(system_error("x", "y", ENOSPC).message, "x: No space left on device; y");
}

}  // namespace
}  // namespace tkdc
