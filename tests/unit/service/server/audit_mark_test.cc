// SPDX-License-Identifier: Apache-2.0
// A log that was deleted, cut, put back or written anew is noticed by its own server; one that a
// crash or a loss of power has left never is.
#include "service/server/audit_mark.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "audit_log_fixture.h"
#include "small_store.h"

namespace tkdc {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEvent = R"({"event":"x"})";

class AuditMarked : public AuditLogFixture {
 protected:
  // As a server starts.
  void start() {
    mark_.reset();
    log_.reset();
    auto known = kept_audit_head(*store_);
    ASSERT_TRUE(known.ok()) << known.error().message;
    auto log = AuditLog::open(path(), rotation_, known->value_or(AuditHead{}));
    ASSERT_TRUE(log.ok()) << log.error().message;
    log_ = std::move(*log);
    mark_.emplace(*store_, *log_, file_);
    look();
  }
  void look() {
    auto looked = mark_->look(now_ms_);
    EXPECT_TRUE(looked.ok()) << looked.error().message;
  }
  void write(int lines) {
    for (int k = 0; k < lines; ++k) ASSERT_TRUE(log_->append(kEvent).ok());
  }
  // What a minute has written is known.
  void pass_a_minute() {
    ASSERT_TRUE(log_->sync().ok());
    now_ms_ += AuditMark::kKeepEveryMs;
    look();
  }
  void start_and_write(int lines) {
    start();
    write(lines);
    pass_a_minute();
  }
  std::string text() const {
    std::ifstream in(path());
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }
  void put(const std::string& text) const { std::ofstream(path()) << text; }
  std::string first_lines(int lines) const {
    std::istringstream in(text());
    std::string out, line;
    while (lines-- > 0 && std::getline(in, line)) out += line + "\n";
    return out;
  }
  std::uint64_t known() const { return kept_audit_head(*store_).value()->lines; }
  void expect_alarm(const std::string& words) const {
    EXPECT_NE(mark_->alarm().find(words), std::string::npos) << mark_->alarm();
    EXPECT_TRUE(fs::exists(file_));
  }
  void expect_gap(const std::string& words) const {
    auto checked = check_audit_log(path());
    ASSERT_TRUE(checked.ok()) << checked.error().message;
    ASSERT_EQ(checked->gaps.size(), 1u);
    EXPECT_NE(checked->gaps[0].find(words), std::string::npos) << checked->gaps[0];
  }
  void expect_honest() const {
    EXPECT_EQ(mark_->alarm(), "");
    EXPECT_EQ(text().find(kAuditBehind), std::string::npos);
    EXPECT_FALSE(fs::exists(file_));
  }

  AuditRotation rotation_;
  std::unique_ptr<Store> store_ = open_small_store(directory_ + "/store");
  std::optional<AuditMark> mark_;
  std::string file_ = audit_behind_file(directory_ + "/store");
  long long now_ms_ = 0;
};

TEST_F(AuditMarked, AStoreOfBeforeTakesAHeadSilently) {
  open();
  write(5);
  EXPECT_FALSE(kept_audit_head(*store_).value());
  start();
  expect_honest();
  EXPECT_EQ(known(), 5u);
}

TEST_F(AuditMarked, KeepsAHeadOnceAMinuteAndAtTheEnd) {
  start_and_write(5);
  EXPECT_EQ(known(), 5u);
  write(1);
  ASSERT_TRUE(log_->sync().ok());
  now_ms_ += AuditMark::kKeepEveryMs - 1;
  look();
  EXPECT_EQ(known(), 5u);
  ++now_ms_;
  look();
  EXPECT_EQ(known(), 6u);
  write(1);
  ASSERT_TRUE(log_->sync().ok());
  ASSERT_TRUE(mark_->leave().ok());
  EXPECT_EQ(known(), 7u);
}

TEST_F(AuditMarked, NeverKeepsWhatIsNotOnDisk) {
  start_and_write(5);
  const std::string durable = text();
  write(3);
  now_ms_ += AuditMark::kKeepEveryMs;
  look();
  ASSERT_TRUE(mark_->leave().ok());
  put(durable);  // the power went
  start();
  expect_honest();
}

TEST_F(AuditMarked, ALogThatIsAheadOrTornIsHonest) {
  start_and_write(5);
  write(3);
  start();
  expect_honest();
  put(text() + R"({"n":9,"time)");  // a line that a crash has cut
  start();
  pass_a_minute();
  start();
  expect_honest();
}

// What is known may be such a line: it was on disk when the disk was full.
TEST_F(AuditMarked, ALineThatIsCutMayBeTheOneThatIsKnown) {
  start_and_write(5);
  put(text() + R"({"n":6,"time)");
  AuditHead head{5, hash_audit_line(R"({"n":6,"time)")};
  Bytes octets;
  Writer out(octets);
  put_audit_head(out, head);
  ASSERT_TRUE(store_->set_audit_head(octets).ok());
  start();
  write(3);
  expect_honest();
  ASSERT_TRUE(store_->set_audit_head(octets).ok());
  start();
  expect_honest();
}

TEST_F(AuditMarked, ACutLogIsNoticedMarkedAndSaidUntilItsRelease) {
  start_and_write(9);
  put(first_lines(4));
  start();
  expect_alarm("ended with line 4, and this server's store knows line 9");
  expect_alarm("tkdc release");
  expect_gap("it had 4, and its server's store knew line 9");
  write(1);
  pass_a_minute();
  for (int k = 0; k < 2; ++k) {
    start();
    expect_alarm("ended with line 4");
    expect_gap("line 9");
  }
  EXPECT_TRUE(forget_audit_behind(file_).value());
  EXPECT_FALSE(forget_audit_behind(file_).value());
  look();
  EXPECT_EQ(mark_->alarm(), "");
  EXPECT_NE(text().find("log behind released"), std::string::npos);
  expect_gap("line 9");
  pass_a_minute();
  start();
  EXPECT_EQ(mark_->alarm(), "");
}

TEST_F(AuditMarked, ADeletedLogIsNoticed) {
  start_and_write(9);
  fs::remove(path());
  start();
  expect_alarm("ended with line 0");
  expect_gap("it had 0");
}

TEST_F(AuditMarked, ALogWrittenAnewIsNoticedWhateverItsLength) {
  start_and_write(9);
  fs::remove(path());
  open();
  for (int k = 0; k < 20; ++k) ASSERT_TRUE(log_->append(R"({"event":"forged"})").ok());
  log_.reset();
  start();
  expect_alarm("has another line 9 than this server's store knows");
  expect_gap("lines were replaced: its server's store knew another line 9");
}

TEST_F(AuditMarked, AHeadInAClosedFileIsFoundThere) {
  rotation_.most_bytes = 500;
  start_and_write(9);
  ASSERT_TRUE(log_->keep().ok());
  write(9);
  ASSERT_TRUE(log_->keep().ok());
  write(1);
  start();
  expect_honest();
  EXPECT_EQ(closed_audit_files(path())->size(), 2u);
}

// The newest closed file alone would go on as if nothing were missing.
TEST_F(AuditMarked, TheFileThatIsWrittenIsMissedBesideClosedOnes) {
  rotation_.most_bytes = 500;
  start_and_write(9);
  ASSERT_TRUE(log_->keep().ok());
  write(3);
  pass_a_minute();
  log_.reset();
  fs::remove(path());
  start();
  expect_alarm("ended with line 9, and this server's store knows line 13");
}

TEST_F(AuditMarked, AClosedFileThatIsDamagedStopsNobody) {
  rotation_.most_bytes = 500;
  start_and_write(9);
  ASSERT_TRUE(log_->keep().ok());
  log_.reset();
  std::ofstream(closed_audit_files(path())->front().path) << "nothing\n";
  start();
  expect_alarm("another line 9");
}

TEST_F(AuditMarked, WhatCannotBeNotedIsFoundAgainAndMarkedOnce) {
  start_and_write(9);
  put(first_lines(4));
  const std::string file = std::exchange(file_, directory_ + "/nowhere/audit-behind");
  mark_.reset();
  log_.reset();
  auto log = AuditLog::open(path(), {}, *kept_audit_head(*store_).value());
  ASSERT_TRUE(log.ok());
  log_ = std::move(*log);
  mark_.emplace(*store_, *log_, file_);
  for (int k = 0; k < 3; ++k) {
    EXPECT_FALSE(mark_->look(now_ms_).ok());
    EXPECT_NE(mark_->alarm().find("line 9"), std::string::npos);
  }
  expect_gap("line 9");
  EXPECT_EQ(known(), 9u);
  file_ = file;
  start();
  expect_alarm("line 9");
  EXPECT_EQ(known(), 6u) << "the second mark";
}

}  // namespace
}  // namespace tkdc
