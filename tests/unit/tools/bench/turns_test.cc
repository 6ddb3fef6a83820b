// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/turns.h"

#include <gtest/gtest.h>

namespace tkdc::bench {
namespace {

// A lane that has its turn when the time is over computes what the others have begun.
TEST(BenchTurns, EachLaneComputesAsManyCohorts) {
  Turns turns(3, 0.02);
  std::size_t first = 1;
  while (turns.another(0)) ++first;
  EXPECT_TRUE(turns.over(0));
  for (std::size_t lane : {1, 2}) {
    EXPECT_FALSE(turns.over(lane));
    std::size_t cohorts = 1;
    while (turns.another(lane)) ++cohorts;
    EXPECT_EQ(cohorts, first);
  }
  EXPECT_FALSE(turns.running());
  EXPECT_EQ(turns.cohorts(), 3 * first);
}

}  // namespace
}  // namespace tkdc::bench
