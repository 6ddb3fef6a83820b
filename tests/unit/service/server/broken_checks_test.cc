// SPDX-License-Identifier: Apache-2.0
// What is counted of broken checks outlives restarts, full disks and torn lines, until release.
#include "service/server/broken_checks.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <ctime>
#include <filesystem>

#include "scratch_dir.h"

namespace tkdc {
namespace {

class BrokenChecksFile : public ScratchDir {
 protected:
  std::string file() const { return broken_checks_file(directory_); }
};

TEST_F(BrokenChecksFile, CountsOverRestartsUntilItIsForgotten) {
  EXPECT_TRUE(BrokenChecks(file()).all().empty());
  ASSERT_TRUE(BrokenChecks(file()).add({1'000, 2, true}).ok());
  BrokenChecks again(file());
  ASSERT_TRUE(again.add({2'000, std::nullopt, false}).ok());
  ASSERT_TRUE(again.add({3'000, 0, false}).ok());
  const auto all = BrokenChecks(file()).all();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].at_s, 1'000u);
  EXPECT_EQ(all[0].party, 2);
  EXPECT_TRUE(all[0].opened);
  EXPECT_FALSE(all[1].party);
  EXPECT_EQ(all[2].party, 0);
  struct stat about {};
  ASSERT_EQ(stat(file().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  EXPECT_EQ(describe(all),
            "3 since 1970-01-01T00:16:40Z (1 with no one server, 1 with server 0, 1 with server 2; "
            "1 after the factors had left)");
  EXPECT_TRUE(*forget_broken_checks(file()));
  EXPECT_FALSE(*forget_broken_checks(file()));
  EXPECT_TRUE(again.all().empty());
}

TEST_F(BrokenChecksFile, ADayIsADayAndAClockSetBackForgetsNothing) {
  constexpr std::uint64_t kDay = 86'400, kNow = 10 * kDay;
  const std::vector<BrokenCheck> checks = {{kNow - kDay - 1, 0, true},
                                           {kNow - kDay, 0, false},
                                           {kNow - kDay + 1, 0, false},
                                           {kNow, 1, true},
                                           {kNow + 5 * kDay, 1, false}};
  EXPECT_EQ(in_the_last_day(checks, kNow).all, 3u);
  EXPECT_EQ(in_the_last_day(checks, kNow).opened, 1u);
}

TEST_F(BrokenChecksFile, WhatCannotBeReadCountsNow) {
  const auto now = static_cast<std::uint64_t>(std::time(nullptr));
  write("broken-checks", "1000 2 1\nrubbish\n2000 7 0\n3000 1 2\n4000 1 0 9\n5000 1");
  const auto all = BrokenChecks(file()).all();
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[0].party, 2);
  EXPECT_EQ(in_the_last_day(all, now).all, 5u);
  EXPECT_EQ(in_the_last_day(all, now).opened, 5u) << "the worst that it may have been";
  std::filesystem::remove(file());
  std::filesystem::create_symlink(directory_ + "/broken-checks", file());
  EXPECT_EQ(BrokenChecks(file()).all().size(), 1u) << "a link to itself";
}

TEST_F(BrokenChecksFile, WhatCannotBeWrittenIsRememberedAndWrittenLater) {
  std::filesystem::create_directory(file());
  BrokenChecks checks(file());
  EXPECT_FALSE(checks.add({1'000, 1, false}).ok());
  EXPECT_FALSE(checks.add({2'000, 1, false}).ok());
  EXPECT_GE(checks.all().size(), 2u);
  std::filesystem::remove(file());
  EXPECT_EQ(checks.all().size(), 2u);
  EXPECT_TRUE(checks.add({3'000, 1, false}).ok());
  EXPECT_EQ(BrokenChecks(file()).all().size(), 3u);
}

}  // namespace
}  // namespace tkdc
