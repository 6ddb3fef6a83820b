// SPDX-License-Identifier: Apache-2.0
#include "service/server/troubles.h"

#include <gtest/gtest.h>

namespace tkdc {
namespace {

TEST(Troubles, EachReasonOnceAMinute) {
  Troubles troubles;
  EXPECT_TRUE(troubles.is_news("reset", 0));
  EXPECT_TRUE(troubles.is_news("latched", 10)) << "another reason is told at once";
  EXPECT_FALSE(troubles.is_news("reset", 20)) << "whatever came between";
  EXPECT_FALSE(troubles.is_news("reset", Troubles::kRepeatMs));
  EXPECT_TRUE(troubles.is_news("reset", Troubles::kRepeatMs + 1));
  EXPECT_FALSE(troubles.is_news("reset", Troubles::kRepeatMs + 2));
}

TEST(Troubles, ASessionInBetweenMakesItNews) {
  Troubles troubles;
  EXPECT_TRUE(troubles.is_news("reset", 0));
  troubles.clear();
  EXPECT_TRUE(troubles.is_news("reset", 1));
}

TEST(Troubles, ReasonsThatNeverRepeatFillNoDisk) {
  Troubles troubles;
  std::size_t logged = 0;
  for (int k = 0; k < 1000; ++k) logged += troubles.is_news("reason " + std::to_string(k), k);
  EXPECT_EQ(logged, Troubles::kMax);
}

}  // namespace
}  // namespace tkdc
