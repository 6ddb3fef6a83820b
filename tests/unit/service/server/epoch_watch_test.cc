// SPDX-License-Identifier: Apache-2.0
// What an administrator is told about nonce epochs.
#include "service/server/epoch_watch.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "scratch_dir.h"
#include "service/server/alarms.h"
#include "service/store/store.h"
#include "service/store/value_table.h"
#include "small_store.h"

namespace tkdc {
namespace {

EpochReport report_of(std::uint32_t spent, std::uint32_t left) {
  EpochReport report;
  report.per_day = 2'048;
  report.spent = spent;
  report.left = left;
  return report;
}

TEST(EpochWatch, AlarmsFromAQuarterOfADayAndBelowAnEighthOfAll) {
  EXPECT_EQ(epoch_alarms(report_of(512, 131'072)).spent, "");
  EXPECT_EQ(epoch_alarms(report_of(512, 131'072)).left, "");
  EXPECT_NE(epoch_alarms(report_of(513, 1'000'000)).spent.find("513 nonce epochs"),
            std::string::npos);
  EXPECT_NE(epoch_alarms(report_of(0, 131'071)).left.find("only 131071 nonce epochs are left"),
            std::string::npos);
}

TEST(EpochWatch, StatusHasFiguresAndAlarms) {
  nlohmann::json json;
  tell_epochs(json, report_of(3, 1'000'000));
  EXPECT_EQ(json["epochs_left"], 1'000'000);
  EXPECT_EQ(json["epochs_spent"], 3);
  EXPECT_EQ(json["epochs_per_day"], 2'048);
  EXPECT_FALSE(json.contains("epoch_alarms"));
  tell_epochs(json, report_of(2'048, 9));
  EXPECT_EQ(json["epoch_alarms"].size(), 2u);
}

TEST(EpochWatch, TheJournalSaysItAtOnceThenEachHour) {
  std::vector<std::string> lines;
  Alarms alarms([&](const std::string& line) { lines.push_back(line); });
  const auto start = Alarms::Clock::time_point(std::chrono::hours(1));
  alarms.look(report_of(512, 1'000'000), start);
  EXPECT_TRUE(lines.empty());
  alarms.look(report_of(513, 1'000'000), start);
  alarms.look(report_of(900, 1'000'000), start + std::chrono::minutes(59));
  EXPECT_EQ(lines.size(), 1u);
  alarms.look(report_of(900, 7), start + std::chrono::minutes(61));
  EXPECT_EQ(lines.size(), 3u);
}

class RestoredTest : public ScratchDir {
 protected:
  // The log of a server that has seen this session, as read after its restart.
  std::unique_ptr<AuditLog> log_with(const std::string& event) {
    const std::string path = directory_ + "/audit.jsonl";
    EXPECT_TRUE(AuditLog::open(path).value()->append(event).ok());
    auto log = AuditLog::open(path);
    EXPECT_TRUE(log.ok());
    return std::move(*log);
  }

  std::unique_ptr<Store> store_ = open_small_store(directory_ + "/store");
};

TEST_F(RestoredTest, AnOlderStoreGoesOnFromTheLog) {
  ASSERT_TRUE(store_->set_epochs({0, 4, 3}).ok());
  auto log = log_with(R"({"epoch":7,"event":"session"})");
  ASSERT_TRUE(notice_restored_epochs(*store_, *log).ok());
  EXPECT_EQ(store_->epochs(), (Epochs{0, 7, 7, 0, 0}));
  EXPECT_EQ(log->head().lines, 2u);
  ASSERT_TRUE(notice_restored_epochs(*store_, *log).ok());
  EXPECT_EQ(log->head().lines, 2u) << "nothing more to say";
}

TEST_F(RestoredTest, AStoreOfAnEarlierEraIsTakenToTheLogs) {
  ASSERT_TRUE(store_->set_epochs({0, 900, 900}).ok());
  auto log = log_with(R"({"epoch":7,"era":1,"event":"session"})");
  ASSERT_TRUE(notice_restored_epochs(*store_, *log).ok());
  EXPECT_EQ(store_->epochs(), (Epochs{1, 7, 7, 0, 0}));
}

TEST_F(RestoredTest, ALogOfAnEarlierEraSaysNothing) {
  ASSERT_TRUE(store_->set_epochs({1, 2, 2}).ok());
  auto log = log_with(R"({"epoch":900,"event":"session"})");
  ASSERT_TRUE(notice_restored_epochs(*store_, *log).ok());
  EXPECT_EQ(store_->epochs(), (Epochs{1, 2, 2, 0, 0}));
}

}  // namespace
}  // namespace tkdc
