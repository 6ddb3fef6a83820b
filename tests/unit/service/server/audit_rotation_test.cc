// SPDX-License-Identifier: Apache-2.0
// An audit log in several files: its chain goes on over each boundary, through compression,
// deletion by age and a crash at each step of closing a file.
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/disk.h"
#include "base/hex.h"
#include "scratch_dir.h"
#include "service/server/audit_log.h"

namespace tkdc {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kDayS = 86'400;

class SlowDisk;

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
  std::string verdict(const std::vector<RecordedHead>& heads = {},
                      std::int64_t deleted_before_s = 0) const {
    auto checked = check_audit_log(path(), heads, deleted_before_s);
    return checked.ok() ? "" : checked.error().message;
  }
  std::size_t files() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& one : fs::directory_iterator(directory_)) count++;
    return count;
  }

  void goes_on_in_a_copy(SlowDisk& slow, const std::string& when);

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
  const RecordedHead of_deleted{0, early, "B line 3", now - 32 * kDayS};
  EXPECT_EQ(verdict({of_deleted, {0, late, "of a kept one", now}}, now - 30 * kDayS), "");
  const std::string why = verdict({of_deleted, {0, late, "of a kept one", now}});
  EXPECT_NE(why.find("files before it are missing"), std::string::npos) << why;
  AuditHead other = late;
  other.hash[0] ^= 1;
  EXPECT_NE(verdict({{0, other, "another"}}).find("rewritten"), std::string::npos);
}

// What is not old enough to have been deleted by age was taken away, and the others know of it.
TEST_F(AuditRotationTest, AllClosedFilesTakenAwayShow) {
  open();
  fill(1);
  const AuditHead first = log_->head();
  write_events(2);
  const AuditHead second = log_->head();
  fill(2);
  write_events(1);
  const AuditHead present = log_->head();
  const std::vector<ClosedAuditFile> all = closed();
  log_.reset();
  const std::int64_t now = std::time(nullptr);
  const std::vector<RecordedHead> heads{{0, first, "B line 3", now - 60 * kDayS},
                                        {0, second, "B line 5", now - 2 * kDayS},
                                        {0, present, "B line 7", now}};
  EXPECT_EQ(verdict(heads), "");
  for (const ClosedAuditFile& one : all) fs::remove(one.path);
  const std::string why = verdict(heads);
  EXPECT_NE(why.find(all.back().path), std::string::npos) << why;
  EXPECT_NE(
      why.find("2 audit heads recorded of them cannot be compared, from line 11 that B line 3 "
               "recorded to line 13 that B line 5"),
      std::string::npos)
      << why;
  EXPECT_NE(verdict(heads, now - 30 * kDayS).find("1 audit head recorded"), std::string::npos);
  EXPECT_EQ(verdict(heads, now - kDayS), "") << "files are kept for a day";
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

// Its readers are its administrator's choice, made once.
TEST_F(AuditRotationTest, WhoMayReadItMayReadItsNextFile) {
  open();
  write_events(10);
  const gid_t group = ::geteuid() == 0 ? 4 : ::getegid();
  ASSERT_EQ(::chown(path().c_str(), static_cast<uid_t>(-1), group), 0);
  ASSERT_EQ(::chmod(path().c_str(), 0644), 0);
  std::vector<std::uint8_t> list{2, 0, 0, 0};
  const std::array<std::array<std::uint8_t, 4>, 5> entries{
      {{1, 6, 0xff, 0xff},
       {2, 4, 0xd2, 0x04},
       {4, 4, 0xff, 0xff},
       {16, 4, 0xff, 0xff},
       {32, 4, 0xff, 0xff}}};  // owner, user 1234, group, mask, others
  for (const auto& [tag, permissions, low, high] : entries) {
    const std::uint8_t rest = low == 0xff ? 0xff : 0;
    list.insert(list.end(), {tag, 0, permissions, 0, low, high, rest, rest});
  }
  const bool has_lists =
      ::setxattr(path().c_str(), "system.posix_acl_access", list.data(), list.size(), 0) == 0;
  rotation_.keeping.compress = true;
  log_->keep_as(rotation_);
  keep();
  open();  // waits for the compression
  ASSERT_EQ(closed().size(), 1u);
  for (const std::string& file : {path(), closed().front().path}) {
    struct stat st {};
    ASSERT_EQ(::stat(file.c_str(), &st), 0);
    EXPECT_EQ(st.st_gid, group) << file;
    EXPECT_EQ(st.st_mode & 0777, 0644u) << file;
    std::vector<std::uint8_t> kept(list.size() + 1);
    if (has_lists) {
      EXPECT_EQ(::getxattr(file.c_str(), "system.posix_acl_access", kept.data(), kept.size()),
                static_cast<ssize_t>(list.size()))
          << file;
    }
  }
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

// A disk that syncs so many times, and then waits until it may go on.
class SlowDisk final : public Disk {
 public:
  explicit SlowDisk(Disk& real) : real_(real) { use_disk(*this); }
  ~SlowDisk() override { use_disk(real_); }
  void stop_after(int syncs) { left_ = syncs; }
  void go_on() { left_ = kForEver; }
  bool stands() const { return stands_; }
  Disk& real() { return real_; }

  std::unique_ptr<File> open(const std::string& path, How how, mode_t mode) override {
    auto file = real_.open(path, how, mode);
    return file ? std::make_unique<SlowFile>(*this, std::move(file)) : nullptr;
  }
  std::optional<std::string> read(const std::string& path, std::uint64_t from,
                                  std::size_t most) override {
    return real_.read(path, from, most);
  }
  bool remove(const std::string& path) override { return real_.remove(path); }
  bool rename(const std::string& a, const std::string& b) override { return real_.rename(a, b); }
  bool sync_folder(const std::string& folder) override {
    wait();
    return real_.sync_folder(folder);
  }

 private:
  class SlowFile final : public File {
   public:
    SlowFile(SlowDisk& disk, std::unique_ptr<File> file) : disk_(disk), file_(std::move(file)) {}
    ssize_t write(ByteSpan contents) override { return file_->write(contents); }
    bool sync() override {
      disk_.wait();
      return file_->sync();
    }

   private:
    SlowDisk& disk_;
    std::unique_ptr<File> file_;
  };
  void wait() {
    while (left_ == 0) {
      stands_ = true;
      std::this_thread::yield();
    }
    stands_ = false;
    --left_;
  }

  static constexpr int kForEver = 1'000'000'000;
  Disk& real_;
  std::atomic<int> left_{kForEver};
  std::atomic<bool> stands_{false};
};

// What a crash would leave now.
void AuditRotationTest::goes_on_in_a_copy(SlowDisk& slow, const std::string& when) {
  const std::string copy = directory_ + "/copy";
  fs::copy(directory_, copy);
  if (const std::string second = second_audit_name(path()); !second.empty()) {
    const fs::path copied = copy / fs::path(second).filename();
    fs::remove(copied);
    fs::create_hard_link(copy + "/audit.jsonl", copied);
  }
  use_disk(slow.real());
  auto other = AuditLog::open(copy + "/audit.jsonl", rotation_);
  use_disk(slow);
  EXPECT_TRUE(other.ok()) << when << ": " << (other.ok() ? "" : other.error().message);
  if (other.ok()) {
    EXPECT_EQ((*other)->head(), log_->head()) << when;
    (*other).reset();
    auto whole = check_audit_log(copy + "/audit.jsonl");
    EXPECT_TRUE(whole.ok()) << when << ": " << (whole.ok() ? "" : whole.error().message);
  }
  fs::remove_all(copy);
}

// At each step of it: an operation's line is not kept waiting, and none is lost by a crash there.
TEST_F(AuditRotationTest, NobodyWaitsForTheDiskWhileAFileIsClosed) {
  SlowDisk slow(disk());
  open();
  int steps = 0;
  for (bool stands = true; stands;) {
    write_events(10);
    slow.stop_after(steps);
    std::atomic<bool> ended{false};
    std::thread keeper([&] {
      EXPECT_TRUE(log_->keep().ok());
      ended = true;
    });
    while (!ended && !slow.stands()) std::this_thread::yield();
    stands = slow.stands();
    if (stands) {
      write_events(1);  // would wait for ever
      goes_on_in_a_copy(slow, "after " + std::to_string(steps++) + " syncs");
    }
    slow.go_on();
    keeper.join();
    EXPECT_EQ(verdict(), "");
  }
  EXPECT_EQ(steps, 5) << "both files, and the folder three times";
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
