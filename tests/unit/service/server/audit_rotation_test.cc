// SPDX-License-Identifier: Apache-2.0
// An audit log in several files: its chain goes on over each boundary, through compression,
// deletion by age and a crash at each step of closing a file.
#include <sys/stat.h>
#include <sys/time.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/hex.h"
#include "scratch_dir.h"
#include "service/server/audit_log.h"

namespace tkdc {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kDayS = 86'400;

class AuditRotationTest : public ScratchDir {
 protected:
  AuditRotationTest() {
    rotation_.most_bytes = 1'000;
    rotation_.days = 0;
    rotation_.keeping.compress = false;
  }
  std::string path() const { return directory_ + "/audit.jsonl"; }
  void open() {
    log_.reset();
    auto opened = AuditLog::open(path(), rotation_);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    log_ = std::move(*opened);
  }
  void keep(std::int64_t now_s = std::time(nullptr)) {
    auto kept = log_->keep(now_s);
    ASSERT_TRUE(kept.ok()) << kept.error().message;
  }
  void write_events(int count, const std::string& event = R"({"event":"x","party":0})") {
    for (int k = 0; k < count; ++k) ASSERT_TRUE(log_->append(event).ok());
  }
  // Files closed one after the other, each of some ten lines.
  void fill(std::size_t files) {
    for (std::size_t k = 0; k < files; ++k) {
      write_events(10);
      keep();
    }
  }
  std::vector<ClosedAuditFile> closed() const {
    auto found = closed_audit_files(path());
    EXPECT_TRUE(found.ok());
    return found.ok() ? *found : std::vector<ClosedAuditFile>();
  }
  std::string verdict(const std::vector<RecordedHead>& heads = {}) const {
    auto checked = check_audit_log(path(), heads);
    return checked.ok() ? "" : checked.error().message;
  }
  std::size_t files() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& one : fs::directory_iterator(directory_)) count++;
    return count;
  }

  AuditRotation rotation_;
  std::unique_ptr<AuditLog> log_;
};

TEST_F(AuditRotationTest, TheChainGoesOnFromFileToFile) {
  open();
  fill(3);
  write_events(1);
  EXPECT_EQ(closed().size(), 3u);
  auto summary = check_audit_log(path());
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary->files, 4u);
  EXPECT_EQ(summary->head, log_->head());
  EXPECT_EQ(summary->head.lines, 34u) << "31 events, and a first line in each of three files";
  EXPECT_EQ(summary->before.lines, 0u);
  EXPECT_EQ(summary->party, 0);
  const AuditHead head = log_->head();
  open();
  EXPECT_EQ(log_->head(), head);
  EXPECT_LT(fs::file_size(path()), rotation_.most_bytes);
}

TEST_F(AuditRotationTest, AShortFileIsNotClosedAnOldOneIs) {
  rotation_.days = 7;
  open();
  write_events(1);
  keep();
  keep(std::time(nullptr) + 7 * kDayS - 60);
  EXPECT_EQ(closed().size(), 0u);
  keep(std::time(nullptr) + 7 * kDayS + 60);
  EXPECT_EQ(closed().size(), 1u);
  keep(std::time(nullptr) + 8 * kDayS);
  EXPECT_EQ(closed().size(), 1u) << "the new one is not old";
  EXPECT_EQ(verdict(), "");
}

TEST_F(AuditRotationTest, AFileOfBeforeIsAsOldAsItsFirstLine) {
  rotation_.days = 7;
  open();
  write_events(1);
  open();
  keep(std::time(nullptr) + 7 * kDayS + 60);
  EXPECT_EQ(closed().size(), 1u);
}

TEST_F(AuditRotationTest, ClosedFilesAreCompressedAndReadAllTheSame) {
  rotation_.keeping.compress = true;
  open();
  fill(2);
  open();  // waits for what is under way
  keep();
  log_.reset();
  ASSERT_EQ(closed().size(), 2u);
  for (const ClosedAuditFile& one : closed()) {
    EXPECT_TRUE(one.compressed) << one.path;
    EXPECT_EQ(read(one.path).substr(0, 2), "\x1f\x8b") << "gzip's mark";
  }
  EXPECT_EQ(files(), 3u) << "no draft and no plain copy is left";
  EXPECT_EQ(verdict(), "");
}

TEST_F(AuditRotationTest, ACompressedFileThatIsDamagedShows) {
  rotation_.keeping.compress = true;
  open();
  fill(1);
  log_.reset();
  ASSERT_TRUE(tidy_audit_files(path(), rotation_.keeping, 0).ok());
  const std::string packed = closed().front().path;
  const std::string whole = read(packed);
  std::ofstream(packed, std::ios::trunc) << whole.substr(0, whole.size() / 2);
  EXPECT_NE(verdict().find("cannot read"), std::string::npos) << verdict();
  std::string changed = whole;
  changed[whole.size() / 2] = static_cast<char>(changed[whole.size() / 2] ^ 1);
  std::ofstream(packed, std::ios::trunc) << changed;
  EXPECT_NE(verdict(), "");
  std::ofstream(packed, std::ios::trunc) << whole;
  EXPECT_EQ(verdict(), "");
}

TEST_F(AuditRotationTest, FilesThatAreTakenOutShow) {
  open();
  fill(3);
  log_.reset();
  const std::string middle = closed()[1].path, aside = directory_ + "/aside";
  fs::rename(middle, aside);
  EXPECT_NE(verdict().find("a file between them was taken out"), std::string::npos) << verdict();
  fs::rename(aside, middle);
  const std::string newest = closed()[2].path;
  fs::rename(newest, aside);
  EXPECT_NE(verdict().find("a file between them"), std::string::npos) << verdict();
  fs::rename(aside, newest);
  EXPECT_EQ(verdict(), "");
}

TEST_F(AuditRotationTest, AClosedFileCutShortShows) {
  open();
  fill(2);
  const std::string text = read(closed()[0].path);
  std::ofstream(closed()[0].path, std::ios::trunc)
      << text.substr(0, text.rfind('\n', text.size() - 2) + 1);
  EXPECT_NE(verdict().find("not with that of its name"), std::string::npos) << verdict();
}

TEST_F(AuditRotationTest, OldFilesAreDeletedAndTheRestIsStillWhole) {
  rotation_.keeping.days = 30;
  open();
  fill(1);
  const AuditHead early = log_->head();
  fill(2);
  const AuditHead late = log_->head();
  write_events(1);
  const std::vector<ClosedAuditFile> before = closed();
  log_.reset();
  const std::int64_t now = std::time(nullptr);
  const timeval old{now - 31 * kDayS, 0};
  const timeval times[2] = {old, old};
  for (int k : {0, 1})
    ASSERT_EQ(::utimes(before[static_cast<std::size_t>(k)].path.c_str(), times), 0);
  ASSERT_TRUE(tidy_audit_files(path(), rotation_.keeping, now).ok());
  ASSERT_EQ(closed().size(), 1u);
  auto summary = check_audit_log(path());
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary->before.lines, before[1].last);
  EXPECT_EQ(verdict({{0, early, "of a deleted line"}, {0, late, "of a kept one"}}), "");
  AuditHead other = late;
  other.hash[0] ^= 1;
  EXPECT_NE(verdict({{0, other, "another"}}).find("rewritten"), std::string::npos);
}

TEST_F(AuditRotationTest, ABeginningCutOffByHandShows) {
  open();
  fill(1);
  write_events(3);
  log_.reset();
  fs::remove(closed().front().path);
  EXPECT_EQ(verdict(), "") << "as after its deletion by age";
  const std::string text = read(path());
  write("audit.jsonl", text.substr(text.find('\n') + 1));
  EXPECT_NE(verdict().find("line 1"), std::string::npos) << verdict();
}

TEST_F(AuditRotationTest, TheEpochIsKnownWithoutTheFileThatHasIt) {
  open();
  write_events(1, R"({"epoch":9,"era":1,"event":"session"})");
  fill(2);
  for (const ClosedAuditFile& one : closed()) fs::remove(one.path);
  open();
  EXPECT_EQ(log_->last_epoch(), (SessionEpoch{1, 9}));
}

// Each state that a crash can leave, made from a log before and after a file was closed.
class AuditCrashTest : public AuditRotationTest {
 protected:
  void goes_on(std::uint64_t lines) {
    open();
    EXPECT_EQ(log_->head().lines, lines);
    ASSERT_TRUE(log_->append(R"({"event":"after the crash"})").ok());
    EXPECT_EQ(verdict(), "");
    fill(2);
    EXPECT_EQ(verdict(), "") << "and files are closed as before";
    EXPECT_FALSE(fs::exists(path() + ".new"));
  }
};

TEST_F(AuditCrashTest, BeforeTheOldFileHasItsNumber) {
  open();
  write_events(10);
  log_.reset();
  std::ofstream(path() + ".new") << "{\"n\":11,";
  EXPECT_EQ(verdict(), "");
  goes_on(10);
}

TEST_F(AuditCrashTest, WithTwoNamesForTheOldFile) {
  open();
  write_events(10);
  log_.reset();
  std::ofstream(path() + ".new") << R"({"n":11,"time":"x","prev":"y","event":{}})"
                                 << "\n";
  fs::create_hard_link(path(), closed_audit_name(path(), 10));
  EXPECT_EQ(verdict(), "");
  goes_on(10);
}

TEST_F(AuditCrashTest, WhenNothingIsBehindTheNewestClosedFile) {
  open();
  fill(1);
  log_.reset();
  fs::remove(path());
  goes_on(11);
}

TEST_F(AuditCrashTest, WhileAFileIsCompressed) {
  open();
  fill(1);
  log_.reset();
  const std::string plain = closed().front().path;
  std::ofstream(plain + ".gz.new") << "half";
  std::ofstream(plain + ".gz") << "of before: both are there";
  EXPECT_EQ(verdict(), "") << "the plain one counts";
  rotation_.keeping.compress = true;
  ASSERT_TRUE(tidy_audit_files(path(), rotation_.keeping, std::time(nullptr)).ok());
  ASSERT_EQ(closed().size(), 1u);
  EXPECT_TRUE(closed().front().compressed);
  EXPECT_EQ(files(), 2u);
  rotation_.keeping.compress = false;
  goes_on(11);
}

TEST_F(AuditRotationTest, WhatCannotBeClosedGoesOnInItsFile) {
  open();
  write_events(10);
  write(closed_audit_name("audit.jsonl", 10), "somebody else's");
  EXPECT_FALSE(log_->keep().ok());
  write_events(1);
  EXPECT_EQ(log_->head().lines, 11u);
  fs::remove(closed_audit_name(path(), 10));
  keep();
  EXPECT_EQ(closed().size(), 1u);
  EXPECT_EQ(verdict(), "");
}

TEST_F(AuditRotationTest, ManyThreadsWhileFilesAreClosed) {
  rotation_.keeping.compress = true;
  open();
  std::atomic<bool> enough{false};
  std::thread keeper([&] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (closed().size() < 4 && std::chrono::steady_clock::now() < end) {
      EXPECT_TRUE(log_->keep().ok());
      EXPECT_TRUE(log_->sync().ok());
    }
    enough = true;
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      while (!enough) {
        write_events(1);
        std::this_thread::yield();
      }
    });
  keeper.join();
  for (auto& thread : threads) thread.join();
  keep();
  log_.reset();
  EXPECT_GE(closed().size(), 4u);
  EXPECT_EQ(verdict(), "");
}

}  // namespace
}  // namespace tkdc
