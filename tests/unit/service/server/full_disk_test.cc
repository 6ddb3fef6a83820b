// SPDX-License-Identifier: Apache-2.0
// An audit log whose disk is full: no job's line is taken, the reason is written out of what was
// reserved, and the gap is in the chain (docs/adr/0038). On a small file system of its own, and on
// a disk that says so.
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <utility>

#include "audit_log_fixture.h"
#include "base/disk.h"
#include "service/server/audit_check.h"
#include "service/server/file_room.h"

namespace tkdc {
namespace {

class FullLogTest : public AuditLogFixture {};

// On a disk of its own, which something else fills to the last octet.
class FullDiskTest : public FullLogTest {
 protected:
  void SetUp() override {
    disk_ = directory_ + "/disk";
    ASSERT_EQ(mkdir(disk_.c_str(), 0700), 0);
    if (mount("tmpfs", disk_.c_str(), "tmpfs", 0, "size=1m") != 0)
      GTEST_SKIP() << "no right to mount a small file system";
    mounted_ = true;
    open();
  }
  ~FullDiskTest() override {
    log_.reset();
    if (mounted_) umount(disk_.c_str());
  }
  std::string path() const override { return disk_ + "/audit.jsonl"; }
  void fill() {
    std::ofstream ballast(disk_ + "/ballast", std::ios::binary);
    const std::string page(4096, 'x');
    while (ballast.write(page.data(), 4096).flush()) {
    }
  }
  void make_room() { std::filesystem::remove(disk_ + "/ballast"); }
  // Until it is refused; how many were taken.
  int append_jobs() {
    int taken = 0;
    while (taken < 10'000 && log_->append_job(R"({"operation":"SEAL"})").ok()) ++taken;
    return taken;
  }
  std::vector<std::string> gaps() {
    auto checked = check_audit_log(path());
    EXPECT_TRUE(checked.ok()) << checked.error().message;
    return checked.ok() ? checked->gaps : std::vector<std::string>();
  }

  std::string disk_;
  bool mounted_ = false;
};

TEST_F(FullDiskTest, JobsAreRefusedAndTheGapIsInTheChain) {
  ASSERT_TRUE(log_->append_job(R"({"operation":"SEAL"})").ok());
  EXPECT_TRUE(gaps().empty());
  fill();
  EXPECT_LT(append_jobs(), 10'000);
  EXPECT_FALSE(log_->takes_jobs());
  EXPECT_NE(log_->trouble().find("No space left"), std::string::npos) << log_->trouble();
  EXPECT_EQ(log_->lost(), 1u);
  EXPECT_FALSE(log_->append_job(R"({"operation":"OPEN"})").ok());
  ASSERT_EQ(gaps().size(), 1u) << "it says itself that it was full, out of the reserve";
  EXPECT_NE(gaps()[0].find("No space left"), std::string::npos) << gaps()[0];
  EXPECT_TRUE(log_->append(R"({"event":"stopped"})").ok()) << "so is what the server itself says";

  ASSERT_TRUE(log_->sync().ok());
  EXPECT_FALSE(log_->takes_jobs()) << "still full";
  make_room();
  ASSERT_TRUE(log_->sync().ok());
  EXPECT_TRUE(log_->takes_jobs());
  EXPECT_EQ(log_->trouble(), "");
  EXPECT_TRUE(log_->append_job(R"({"operation":"SEAL"})").ok());
  ASSERT_EQ(gaps().size(), 1u);
  EXPECT_NE(gaps()[0].find(" 2 events are lacking"), std::string::npos) << gaps()[0];
}

TEST_F(FullDiskTest, ARestartMeanwhileOpensAndForgetsNoGap) {
  ASSERT_TRUE(log_->append_job(R"({"operation":"SEAL"})").ok());
  fill();
  append_jobs();
  open();
  EXPECT_FALSE(log_->takes_jobs());
  EXPECT_FALSE(log_->append_job(R"({"operation":"SEAL"})").ok());
  make_room();
  ASSERT_TRUE(log_->sync().ok());
  EXPECT_TRUE(log_->takes_jobs());
  ASSERT_EQ(gaps().size(), 1u);
  EXPECT_NE(gaps()[0].find("at least 1 events are lacking, since before a restart"),
            std::string::npos)
      << gaps()[0];
  open();
  EXPECT_TRUE(log_->takes_jobs());
  EXPECT_EQ(gaps().size(), 1u) << "once";
}

TEST_F(FullDiskTest, ARestartWithRoomEndsTheGap) {
  fill();
  append_jobs();
  log_.reset();
  make_room();
  open();
  EXPECT_TRUE(log_->takes_jobs());
  EXPECT_EQ(gaps().size(), 1u);
}

TEST_F(FullDiskTest, ALineCutShortWhereNothingFitsIsEndedLater) {
  ASSERT_TRUE(log_->append(R"({"event":"one"})").ok());
  fill();
  append_jobs();
  log_.reset();
  std::ofstream(path(), std::ios::app) << R"({"n":2,"time":"20)";
  open();
  EXPECT_FALSE(log_->takes_jobs());
  make_room();
  ASSERT_TRUE(log_->sync().ok());
  EXPECT_TRUE(log_->takes_jobs());
  EXPECT_GE(gaps().size(), 2u) << "the line, and what was lost with it";
}

// What the log keeps for itself is used up first, after a restart too; nothing of it stays with a
// file that is closed.
TEST_F(FullDiskTest, ItsOwnRoomServesWhileTheDiskIsFull) {
  constexpr std::uint64_t kRoom = std::uint64_t{256} * 1024;
  AuditRotation rotation;
  rotation.keeping.compress = false;
  const auto open_with = [&](std::uint64_t room) {
    log_.reset();
    rotation.room_bytes = room;
    auto opened = AuditLog::open(path(), rotation);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    log_ = std::move(*opened);
  };
  const auto written = [&](const std::string& file) { return std::filesystem::file_size(file); };
  const std::uint64_t before = written(path());
  fill();
  append_jobs();
  const std::uint64_t without = written(path()) - before;
  EXPECT_LT(without, kRoom) << "the control";
  make_room();

  open_with(kRoom);
  ASSERT_TRUE(log_->append_job(R"({"operation":"SEAL"})").ok());
  EXPECT_GE(log_->room(), kRoom);
  fill();
  const std::uint64_t begun = written(path());
  while (written(path()) < begun + kRoom / 2)
    ASSERT_TRUE(log_->append_job(R"({"operation":"SEAL"})").ok());
  open_with(kRoom);
  EXPECT_TRUE(log_->takes_jobs());
  append_jobs();
  EXPECT_GE(written(path()), begun + kRoom - FileRoom::kReserveBytes);
  EXPECT_FALSE(log_->takes_jobs());

  make_room();
  ASSERT_TRUE(log_->sync().ok());
  rotation.most_bytes = 1'000;
  log_->keep_as(rotation);
  ASSERT_TRUE(log_->keep().ok());
  const auto closed = closed_audit_files(path());
  ASSERT_TRUE(closed.ok());
  ASSERT_EQ(closed->size(), 1u);
  struct stat file {};
  ASSERT_EQ(stat(closed->front().path.c_str(), &file), 0);
  EXPECT_LE(file.st_blocks * 512, file.st_size + 4096);
  EXPECT_GE(log_->room(), kRoom) << "of the new file";
}

// Nothing reserved helps where the disk's word is not kept: a limit on the file's length.
TEST_F(FullLogTest, AWriteThatFailsClosesItToo) {
  open();
  ASSERT_TRUE(log_->append_job(R"({"operation":"SEAL"})").ok());
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  auto ignored = signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 700;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  while (log_->append_job(R"({"operation":"SEAL"})").ok()) {
  }
  EXPECT_FALSE(log_->takes_jobs());
  ASSERT_TRUE(log_->sync().ok());
  EXPECT_FALSE(log_->takes_jobs()) << "the line that would say so does not fit";
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, ignored);
  ASSERT_TRUE(log_->sync().ok());
  EXPECT_TRUE(log_->takes_jobs());
  auto checked = check_audit_log(path());
  ASSERT_TRUE(checked.ok()) << checked.error().message;
  EXPECT_FALSE(checked->gaps.empty());
}

// That reserves nothing while it is told so, and takes what is written all the same; or that fails
// to sync.
class FullDisk final : public Disk {
 public:
  explicit FullDisk(Disk& real) : real_(real) { use_disk(*this); }
  ~FullDisk() override { use_disk(real_); }
  bool full = false;
  int failing_syncs = 0;
  std::function<void()> during_sync;  // once

  std::unique_ptr<File> open(const std::string& path, How how, mode_t mode) override {
    auto file = real_.open(path, how, mode);
    return file ? std::make_unique<FullFile>(*this, std::move(file)) : nullptr;
  }
  std::optional<std::string> read(const std::string& path, std::uint64_t from,
                                  std::size_t most) override {
    return real_.read(path, from, most);
  }
  bool remove(const std::string& path) override { return real_.remove(path); }
  bool rename(const std::string& a, const std::string& b) override { return real_.rename(a, b); }
  bool sync_folder(const std::string& folder) override { return real_.sync_folder(folder); }

 private:
  class FullFile final : public File {
   public:
    FullFile(FullDisk& disk, std::unique_ptr<File> file) : disk_(disk), file_(std::move(file)) {}
    ssize_t write(ByteSpan contents) override { return file_->write(contents); }
    bool sync() override {
      if (auto once = std::exchange(disk_.during_sync, nullptr)) once();
      if (disk_.failing_syncs == 0) return file_->sync();
      --disk_.failing_syncs;
      errno = EIO;
      return false;
    }
    bool reserve(std::uint64_t from, std::uint64_t octets) override {
      if (disk_.full) errno = ENOSPC;
      return !disk_.full && file_->reserve(from, octets);
    }

   private:
    FullDisk& disk_;
    std::unique_ptr<File> file_;
  };
  Disk& real_;
};

// Nothing is closed while there is no room for another file, and what follows has room again.
TEST_F(FullLogTest, NoFileIsClosedMeanwhile) {
  FullDisk disk_of_test(disk());
  AuditRotation rotation;
  rotation.most_bytes = 1'000;
  rotation.keeping.compress = false;
  auto opened = AuditLog::open(path(), rotation);
  ASSERT_TRUE(opened.ok());
  log_ = std::move(*opened);
  ASSERT_TRUE(log_->append_job(R"({"operation":"SEAL"})").ok());
  disk_of_test.full = true;
  while (log_->append_job(R"({"operation":"SEAL"})").ok()) {
  }
  ASSERT_TRUE(log_->keep().ok());
  EXPECT_TRUE(closed_audit_files(path())->empty());
  EXPECT_TRUE(log_->append(R"({"event":"stopped"})").ok());
  disk_of_test.full = false;
  ASSERT_TRUE(log_->sync().ok());
  ASSERT_TRUE(log_->keep().ok());
  EXPECT_EQ(closed_audit_files(path())->size(), 1u);
  disk_of_test.full = true;
  EXPECT_TRUE(log_->append_job(R"({"operation":"SEAL"})").ok()) << "reserved with the new file";
  log_.reset();
  auto checked = check_audit_log(path());
  ASSERT_TRUE(checked.ok()) << checked.error().message;
  EXPECT_EQ(checked->gaps.size(), 1u);
}

// What is not on disk is nothing that could be shown: no job is answered until a sync succeeds.
TEST_F(FullLogTest, ASyncThatFailsClosesItToo) {
  FullDisk disk_of_test(disk());
  open();
  ASSERT_TRUE(log_->append_job(R"({"operation":"SEAL"})").ok());
  disk_of_test.failing_syncs = 2;
  auto synced = log_->sync();
  ASSERT_FALSE(synced.ok());
  EXPECT_NE(synced.error().message.find("cannot be synced: Input/output error"), std::string::npos)
      << synced.error().message;
  EXPECT_EQ(log_->durable_head().lines, 0u);
  EXPECT_FALSE(log_->takes_jobs());
  EXPECT_EQ(log_->trouble(), synced.error().message);
  EXPECT_FALSE(log_->append_job(R"({"operation":"SEAL"})").ok());
  ASSERT_FALSE(log_->sync().ok());
  EXPECT_FALSE(log_->takes_jobs()) << "there is room, but the disk does not sync";

  ASSERT_TRUE(log_->sync().ok());
  EXPECT_TRUE(log_->takes_jobs());
  EXPECT_EQ(log_->trouble(), "");
  EXPECT_TRUE(log_->append_job(R"({"operation":"SEAL"})").ok());
  log_.reset();
  auto checked = check_audit_log(path());
  ASSERT_TRUE(checked.ok()) << checked.error().message;
  ASSERT_EQ(checked->gaps.size(), 1u);
  EXPECT_NE(checked->gaps[0].find(" 1 events are lacking"), std::string::npos) << checked->gaps[0];
}

// A disk tells of a write that it lost once, and whoever syncs next hears that all is well: an
// export's own sync succeeds, and its lines are not there.
TEST_F(FullLogTest, AnotherOnesFailedSyncIsEverybodys) {
  FullDisk disk_of_test(disk());
  open();
  disk_of_test.during_sync = [&] {
    disk_of_test.failing_syncs = 1;
    EXPECT_FALSE(log_->sync().ok());
  };
  auto shown = log_->append_on_disk({R"({"event":"export"})", R"({"event":"key exported"})"});
  ASSERT_FALSE(shown.ok());
  EXPECT_NE(shown.error().message.find("a sync failed meanwhile"), std::string::npos)
      << shown.error().message;
  EXPECT_EQ(log_->durable_head().lines, 0u);
  EXPECT_FALSE(log_->takes_jobs());

  ASSERT_TRUE(log_->sync().ok());
  EXPECT_TRUE(log_->takes_jobs());
  EXPECT_TRUE(log_->append_on_disk({R"({"event":"export"})"}).ok());
  EXPECT_EQ(log_->durable_head().lines, log_->head().lines);
}

}  // namespace
}  // namespace tkdc
