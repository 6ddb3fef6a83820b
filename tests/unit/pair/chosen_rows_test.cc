// SPDX-License-Identifier: Apache-2.0
// A party that has chosen its rows learns nothing by it. unchecked_test.cc has the controls.
#include "pair/chosen_rows.h"

namespace tkdc::pair {
namespace {

class ChosenRows : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Side, ChosenRows, testing::Values(0, 1));

TEST_P(ChosenRows, TablesDoNotGiveDelta) {
  const WatchedRandom watched;
  const std::vector<Label> roots = roots_for(GetParam());
  for (int run = 0; run < 16; ++run) {
    const Told told = tables_of_chosen_rows(GetParam(), roots);
    EXPECT_NE(told.by_tables, told.peers_delta);
    EXPECT_NE(told.by_tables, told.own_delta);
  }
}

TEST_P(ChosenRows, TwoFlippedBitsAreFound) {
  const WatchedRandom watched;
  const std::vector<Label> roots = roots_for(GetParam());
  for (int run = 0; run < 4; ++run)
    EXPECT_NE(flip_two_openings(GetParam(), roots).value_or("").find("does not have"),
              std::string::npos);
}

}  // namespace
}  // namespace tkdc::pair
