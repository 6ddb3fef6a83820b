// SPDX-License-Identifier: Apache-2.0
// The latch alone: once closed it stays closed, over restarts and whatever the disk
// does, until it is released.
#include "service/server/latch.h"

#include <gtest/gtest.h>
#include <sodium.h>

#include <filesystem>

#include "scratch_dir.h"

namespace tkdc {
namespace {

class Latches : public ScratchDir {
 protected:
  std::string file() const { return latch_file(directory_); }
};

TEST_F(Latches, IsOpenAtFirstAndClosedOverARestart) {
  EXPECT_EQ(Latch(file()).reason(), "");
  Latch latch(file());
  ASSERT_TRUE(latch.close("lane 1, cohorts up to 7: the verification failed").ok());
  EXPECT_EQ(latch.reason(), "lane 1, cohorts up to 7: the verification failed");
  EXPECT_EQ(Latch(file()).reason(), latch.reason());
  struct stat about {};
  ASSERT_EQ(stat(file().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
}

TEST_F(Latches, OpensByReleaseOnly) {
  Latch latch(file());
  EXPECT_FALSE(*release_latch(file()));
  ASSERT_TRUE(latch.close("first").ok());
  ASSERT_TRUE(latch.close("second").ok());
  EXPECT_EQ(latch.reason(), "second");
  EXPECT_TRUE(*release_latch(file()));
  EXPECT_EQ(latch.reason(), "");
  EXPECT_EQ(Latch(file()).reason(), "");
}

TEST_F(Latches, AFileThatCannotBeReadIsClosed) {
  write("latched", "");
  EXPECT_NE(Latch(file()).reason(), "") << "an empty file";
  std::filesystem::remove(file());
  std::filesystem::create_directory(file());
  EXPECT_NE(Latch(file()).reason(), "") << "a folder in its place";
  std::filesystem::remove(file());
  std::filesystem::create_symlink(directory_ + "/latched", file());
  EXPECT_NE(Latch(file()).reason(), "") << "a link to itself";
  std::filesystem::remove(file());
  const std::string under_a_file = write("plain", "x") + "/latched";
  EXPECT_NE(Latch(under_a_file).reason(), "") << "below what is no folder";
}

TEST_F(Latches, AnOverlongReasonIsCutButCloses) {
  Latch latch(file());
  ASSERT_TRUE(latch.close(std::string(100'000, 'x')).ok());
  const std::string reason = Latch(file()).reason();
  EXPECT_FALSE(reason.empty());
  EXPECT_LE(reason.size(), 4096u);
}

// /dev/full takes no octet, as a full disk.
TEST_F(Latches, AFullDiskClosesUntilTheProcessEnds) {
  Latch latch("/dev/full");
  auto closed = latch.close("a server computed wrongly");
  ASSERT_FALSE(closed.ok());
  EXPECT_NE(closed.error().message.find("/dev/full"), std::string::npos);
  EXPECT_NE(closed.error().message.find("do not restart"), std::string::npos);
  EXPECT_EQ(latch.reason(), "a server computed wrongly");
  Latch nowhere(directory_ + "/no folder/latched");
  EXPECT_FALSE(nowhere.close("why").ok());
  EXPECT_EQ(nowhere.reason(), "why");
  // Released on disk, it is closed in the process that could not write it.
  EXPECT_FALSE(*release_latch(directory_ + "/no folder/latched"));
  EXPECT_EQ(nowhere.reason(), "why");
}

TEST_F(Latches, WhatTheDiskTakesLaterIsReleasedLikeAnyOther) {
  const std::string folder = directory_ + "/later";
  Latch latch(folder + "/latched");
  ASSERT_FALSE(latch.close("why").ok());
  std::filesystem::create_directory(folder);
  EXPECT_EQ(latch.reason(), "why");
  EXPECT_EQ(Latch(folder + "/latched").reason(), "why") << "over a restart, too";
  EXPECT_TRUE(*release_latch(folder + "/latched"));
  EXPECT_EQ(latch.reason(), "");
}

}  // namespace
}  // namespace tkdc
