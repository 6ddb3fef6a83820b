// SPDX-License-Identifier: Apache-2.0
#include "service/server/dropped_watch.h"

#include <gtest/gtest.h>

#include "service/store/dropped_table.h"

namespace tkdc {
namespace {

constexpr std::int64_t kDroppedDayS = 86'400, kDroppedNow = 1'800'000'000;

// Keys by the time at which they were dropped; counts how often they are read.
class FewDropped final : public DroppedTable {
 public:
  std::vector<std::uint64_t> at_s;
  int read = 0;

  Result<void> condemn_to_drop(const KeyId&, std::uint64_t) override { return fail("not here"); }
  Result<void> prepare_change(const KeyId&, DroppedChange) override { return fail("not here"); }
  Result<std::vector<DroppedKey>> dropped_behind(const KeyId&, std::size_t) override {
    return fail("not here");
  }
  std::size_t dropped_count() override { return at_s.size(); }
  Result<std::optional<std::uint64_t>> dropped_first_at() override {
    ++read;
    std::optional<std::uint64_t> out;
    for (const std::uint64_t one : at_s) out = std::min(out.value_or(one), one);
    return out;
  }
  Result<std::shared_ptr<const KeyRecord>> dropped_record(const KeyId&) override {
    return fail("not here");
  }
};

TEST(DroppedWatch, TheOldestCounts) {
  FewDropped table;
  table.at_s = {1'799'000'000, 1'798'000'000, 1'799'500'000};
  DroppedWatch watch;
  EXPECT_EQ(watch.oldest_s(&table, kDroppedNow), 1'798'000'000);
  EXPECT_EQ(watch.oldest_s(nullptr, kDroppedNow), std::nullopt) << "of two servers";
}

TEST(DroppedWatch, TheStoreIsAskedWhereSomethingHasChangedAndOnceAnHour) {
  FewDropped table;
  DroppedWatch watch;
  table.at_s = {100};
  for (int k = 0; k < 5; ++k) EXPECT_EQ(watch.oldest_s(&table, kDroppedNow + k), 100);
  EXPECT_EQ(table.read, 1);
  table.at_s = {200};  // one was purged and one came
  EXPECT_EQ(watch.oldest_s(&table, kDroppedNow + 3'599), 100);
  EXPECT_EQ(watch.oldest_s(&table, kDroppedNow + 3'600), 200);
  table.at_s = {300};
  EXPECT_EQ(watch.oldest_s(&table, kDroppedNow), 300) << "the clock was set back";
  table.at_s.clear();
  EXPECT_EQ(watch.oldest_s(&table, kDroppedNow + 1), std::nullopt);
  EXPECT_EQ(table.read, 4);
}

TEST(DroppedWatch, WhatIsLateByMoreThanAWeekIsSpokenOf) {
  const std::int64_t due = kDroppedNow - 30 * kDroppedDayS;
  EXPECT_EQ(dropped_alarm(std::nullopt, 30, kDroppedNow), "");
  EXPECT_EQ(dropped_alarm(due, 30, kDroppedNow), "");
  EXPECT_EQ(dropped_alarm(due - 8 * kDroppedDayS, 30, kDroppedNow), "");
  const std::string said = dropped_alarm(due - 8 * kDroppedDayS - 1, 30, kDroppedNow);
  EXPECT_NE(said.find("was to end on 2027-01-07"), std::string::npos) << said;
  EXPECT_NE(said.find("tkdc reconcile purge --due"), std::string::npos) << said;
  EXPECT_EQ(dropped_alarm(due - 8 * kDroppedDayS - 1, 31, kDroppedNow), "");
}

}  // namespace
}  // namespace tkdc
