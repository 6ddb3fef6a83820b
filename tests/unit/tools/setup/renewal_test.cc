// SPDX-License-Identifier: Apache-2.0
// Next keys, drawn and taken by processes that end before any of their steps: the next run goes on
// or clears up, and says which.
#include "tools/setup/renewal.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "sample.h"
#include "support/scratch.h"

namespace {

int steps_left = -1;  // none: it is not counted

void step() {
  if (steps_left == 0) ::_exit(9);
  if (steps_left > 0) --steps_left;
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's
extern "C" {
int __real_fsync(int fd);
int __real_rename(const char* from, const char* to);
int __real_rmdir(const char* path);
int __real_unlink(const char* path);
int __wrap_fsync(int fd) {
  step();
  return __real_fsync(fd);
}
int __wrap_rename(const char* from, const char* to) {
  step();
  return __real_rename(from, to);
}
int __wrap_rmdir(const char* path) {
  step();
  return __real_rmdir(path);
}
int __wrap_unlink(const char* path) {
  step();
  return __real_unlink(path);
}
}
// NOLINTEND(bugprone-reserved-identifier)

namespace tkdc::setup {
namespace {

namespace fs = std::filesystem;
using Contents = std::map<std::string, std::string>;

Contents contents_of(const std::string& folder) {
  Contents out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    std::ostringstream text;
    if (entry.is_regular_file()) text << std::ifstream(entry.path()).rdbuf();
    out[fs::relative(entry.path(), folder).string()] = text.str();
  }
  return out;
}

class RenewalTest : public testing::Test {
 protected:
  RenewalTest() {
    auto tree = Tree::begin(member_);
    EXPECT_TRUE(tree.ok());
    EXPECT_TRUE(write_member(*tree, sample::server(1)).ok());
    EXPECT_TRUE(tree->publish().ok());
  }
  ~RenewalTest() override { fs::remove_all(folder_); }
  Introduction own() const { return read_member_file(member_)->introduction; }
  // As `tkdc renew`. False: refused.
  bool draw() const {
    auto whole = read_member(member_);
    if (!whole.ok()) return false;
    auto renewal = draw_renewal(member_, *whole, "");
    return renewal.ok() && clear_unfinished(member_, whole->introduction).ok() &&
           write_renewal(member_, *renewal).ok();
  }
  // In a process that ends before the step of that number. True: it came to its end.
  static bool done_before(int steps, const std::function<bool()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
      steps_left = steps;
      ::_exit(work() ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 9))
        << status;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  // The folder as it is now, in another place.
  void put_back() const {
    fs::remove_all(member_);
    fs::copy(folder_ + "/kept", member_, fs::copy_options::recursive);
  }
  const std::string folder_ = test::make_scratch("renewal"), member_ = folder_ + "/server1";
};

TEST_F(RenewalTest, TakingGoesOnWhereItWasCutOff) {
  ASSERT_TRUE(draw());
  fs::copy(member_, folder_ + "/kept", fs::copy_options::recursive);
  Contents expected = contents_of(member_);
  for (const auto& [name, text] : contents_of(member_ + "/next")) {
    expected[name] = text;
    expected.erase("next/" + name);
  }
  expected.erase("next");
  int cut = 0, before = 0;
  bool ended = false;
  for (; !ended; ++cut) {
    put_back();
    ended = done_before(cut, [&] { return take_renewal(member_).ok(); });
    if (ended) break;
    // One whose next keys are taken in part is told so, and draws no others.
    auto next = read_next(member_, own());
    auto whole = is_whole(member_, own());
    ASSERT_TRUE(whole.ok());
    EXPECT_TRUE(!next.ok() || *whole || !draw()) << cut;
    auto taken = take_renewal(member_);
    ASSERT_TRUE(taken.ok()) << cut << ": " << taken.error().message;
    before += *taken == Taken::kBefore ? 1 : 0;
    EXPECT_EQ(contents_of(member_), expected) << cut;
    EXPECT_TRUE(read_member(member_).ok()) << cut;
    auto again = take_renewal(member_);
    ASSERT_FALSE(again.ok());
    EXPECT_NE(again.error().message.find("has no next keys"), std::string::npos);
  }
  EXPECT_GT(cut, 8);
  EXPECT_GT(before, 0) << "the empty folder was met";
  EXPECT_EQ(contents_of(member_), expected);
}

TEST_F(RenewalTest, AnEmptyFolderIsDrawnInto) {
  fs::create_directory(member_ + "/next");
  EXPECT_TRUE(draw());
  EXPECT_TRUE(take_renewal(member_).ok());
}

TEST_F(RenewalTest, DrawingIsDoneAgain) {
  fs::copy(member_, folder_ + "/kept", fs::copy_options::recursive);
  const Contents before = contents_of(member_);
  int cut = 0, drafts = 0;
  for (;; ++cut) {
    put_back();
    if (done_before(cut, [&] { return draw(); })) break;
    for (const auto& entry : fs::directory_iterator(member_))
      drafts += entry.path().filename().string().starts_with(".next.") ? 1 : 0;
    if (!read_next(member_, own()).ok()) {
      ASSERT_TRUE(draw()) << cut;
    }
    for (const auto& entry : fs::directory_iterator(member_))
      EXPECT_FALSE(entry.path().filename().string().starts_with(".next.")) << cut;
    EXPECT_TRUE(*is_whole(member_, own())) << cut;
    ASSERT_TRUE(take_renewal(member_).ok()) << cut;
    EXPECT_TRUE(read_member(member_).ok()) << cut;
  }
  EXPECT_GT(cut, 5);
  EXPECT_GT(drafts, 3) << "drafts were met";
}

// Somebody moved it away to send it to the others, who go by these keys now.
TEST_F(RenewalTest, KeysWithoutTheirIntroductionAreKept) {
  ASSERT_TRUE(draw());
  fs::rename(member_ + "/next/server1.introduction", folder_ + "/sent");
  auto taken = take_renewal(member_);
  ASSERT_FALSE(taken.ok());
  EXPECT_NE(taken.error().message.find("tkdc renew --folder"), std::string::npos);
  const Contents before = contents_of(member_);
  auto cleared = clear_unfinished(member_, own());
  ASSERT_FALSE(cleared.ok());
  EXPECT_NE(cleared.error().message.find("put it back"), std::string::npos);
  EXPECT_FALSE(draw());
  EXPECT_EQ(contents_of(member_), before);
  fs::rename(folder_ + "/sent", member_ + "/next/server1.introduction");
  EXPECT_TRUE(take_renewal(member_).ok());
}

TEST_F(RenewalTest, WhatIsNoRenewalsStays) {
  fs::create_directory(member_ + "/next");
  std::ofstream(member_ + "/next/notes") << "mine";
  std::ofstream(member_ + "/next/curve.key") << "mine";
  auto cleared = clear_unfinished(member_, own());
  ASSERT_FALSE(cleared.ok());
  EXPECT_NE(cleared.error().message.find("put it back"), std::string::npos);
  EXPECT_TRUE(fs::exists(member_ + "/next/notes"));
}

}  // namespace
}  // namespace tkdc::setup
