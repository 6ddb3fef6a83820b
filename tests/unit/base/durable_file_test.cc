// SPDX-License-Identifier: Apache-2.0
// What is written, with which mode, and above all that no failure passes for success: a full disk,
// a folder that is missing, cannot be written or cannot be synced, a file that cannot be synced.
#include "base/durable_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/scratch.h"

namespace {
bool folders_fail = false;
const char* looked_at = nullptr;  // opened when a folder's turn comes
int seen = -1;
}  // namespace

// In fsync()'s place (CMakeLists.txt): a disk that fails when it is a folder's turn.
extern "C" {
int __real_fsync(int fd);
int __wrap_fsync(int fd) {
  struct stat about {};
  if (!folders_fail || ::fstat(fd, &about) != 0 || !S_ISDIR(about.st_mode)) return __real_fsync(fd);
  if (looked_at != nullptr) seen = ::open(looked_at, O_RDONLY | O_CLOEXEC);
  errno = EIO;
  return -1;
}
}

namespace tkdc {
namespace {

constexpr uid_t kNobody = 65534;

class DurableFile : public testing::Test {
 protected:
  DurableFile() : folder_(test::make_scratch("base-test")), file_(folder_ + "/file") {}
  ~DurableFile() override { std::filesystem::remove_all(folder_); }

  std::string read() const {
    std::ifstream in(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  void put(const std::string& text) const { std::ofstream(file_, std::ios::binary) << text; }
  mode_t mode() const {
    struct stat about {};
    EXPECT_EQ(::stat(file_.c_str(), &about), 0);
    return about.st_mode & 0777;
  }

  // Files beside it.
  long drafts() const {
    return std::distance(std::filesystem::directory_iterator(folder_), {}) - 1;
  }

  const std::string folder_, file_;
};

// The scratch folder with another mode, and no root who could write there all the same.
class FolderMode {
 public:
  FolderMode(const std::string& folder, mode_t mode) : folder_(folder), root_(::geteuid() == 0) {
    EXPECT_EQ(::chmod(folder.c_str(), mode), 0);
    if (!root_) return;
    EXPECT_EQ(::chown(folder.c_str(), kNobody, static_cast<gid_t>(-1)), 0);
    EXPECT_EQ(::seteuid(kNobody), 0);
  }
  FolderMode(const FolderMode&) = delete;
  FolderMode& operator=(const FolderMode&) = delete;
  ~FolderMode() {
    EXPECT_TRUE(!root_ || ::seteuid(0) == 0);
    EXPECT_EQ(::chmod(folder_.c_str(), 0700), 0);
  }

 private:
  const std::string folder_;
  const bool root_;
};

// A disk that is full after so many octets of each file; write() says EFBIG then.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit small{bytes, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before_), 0);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*const handler_)(int);
};

TEST_F(DurableFile, CreateTakesNoOthersPlace) {
  {
    const UniqueFd fd = create_file(file_);
    ASSERT_TRUE(fd);
    ASSERT_TRUE(write_synced(fd.get(), std::string_view("first, ")));
    ASSERT_TRUE(write_synced(fd.get(), std::string_view("second")));
  }
  EXPECT_EQ(read(), "first, second");
  EXPECT_EQ(mode(), 0600u);
  EXPECT_FALSE(create_file(file_));
  EXPECT_EQ(errno, EEXIST);
  EXPECT_EQ(read(), "first, second");
  std::filesystem::create_symlink(folder_ + "/elsewhere", folder_ + "/link");
  EXPECT_FALSE(create_file(folder_ + "/link"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/elsewhere"));
  EXPECT_FALSE(create_file(folder_ + "/none/file"));
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(DurableFile, WriteSyncedWritesAllOrSaysWhyNot) {
  const Bytes large(std::size_t{3} << 20, 0xa5);
  {
    const UniqueFd fd = create_file(file_);
    ASSERT_TRUE(write_synced(fd.get(), large));
    EXPECT_TRUE(write_synced(fd.get(), ByteSpan()));
  }
  EXPECT_EQ(read(), std::string(large.begin(), large.end()));
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full);
  EXPECT_FALSE(write_synced(full.get(), std::string_view("x")));
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_FALSE(write_synced(-1, std::string_view("x")));
  EXPECT_EQ(errno, EBADF);
}

// A pipe takes what is written, and cannot be synced.
TEST_F(DurableFile, WriteSyncedSyncs) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd out(ends[0]), in(ends[1]);
  EXPECT_FALSE(write_synced(in.get(), std::string_view("x")));
  EXPECT_EQ(errno, EINVAL);
  char octet = 0;
  EXPECT_EQ(::read(out.get(), &octet, 1), 1);
}

TEST_F(DurableFile, OverwriteLeavesNothingOfTheOld) {
  ASSERT_TRUE(overwrite_durably(file_, "a long first text"));
  EXPECT_EQ(mode(), 0600u);
  ASSERT_TRUE(overwrite_durably(file_, "short"));
  EXPECT_EQ(read(), "short");
  EXPECT_FALSE(overwrite_durably(folder_, "x"));
  EXPECT_EQ(errno, EISDIR);
  EXPECT_FALSE(overwrite_durably(folder_ + "/none/file", "x"));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(overwrite_durably("/dev/full", "x"));
  EXPECT_EQ(errno, ENOSPC);
}

TEST_F(DurableFile, OverwriteOnAFullDiskStillMakesTheFile) {
  const SmallDisk none(0);
  EXPECT_FALSE(overwrite_durably(file_, "x"));
  EXPECT_EQ(errno, EFBIG);
  EXPECT_TRUE(std::filesystem::exists(file_));
}

// The control is above it: what overwrites leaves an empty file.
TEST_F(DurableFile, WhatIsKeptIsReplacedAsAWholeOrNotAtAll) {
  ASSERT_TRUE(replace_kept(file_, "first"));
  EXPECT_EQ(mode(), 0600u);
  std::ofstream(file_ + ".new") << "what a crash has left, which is longer";
  ASSERT_TRUE(replace_kept(file_, "second"));
  EXPECT_EQ(read(), "second");
  EXPECT_EQ(drafts(), 0);
  {
    const SmallDisk none(0);
    EXPECT_FALSE(replace_kept(file_, "third"));
    EXPECT_EQ(errno, EFBIG);
  }
  EXPECT_EQ(read(), "second");
  EXPECT_EQ(drafts(), 0);
  EXPECT_FALSE(replace_kept(folder_ + "/none/file", "x"));
  EXPECT_EQ(errno, ENOENT);
  folders_fail = true;
  const bool replaced = replace_kept(file_, "third");
  folders_fail = false;
  EXPECT_FALSE(replaced) << "nobody knows whether it outlives a crash";
  EXPECT_EQ(drafts(), 0);
}

TEST_F(DurableFile, ReplaceTakesThePlaceAsAWhole) {
  const Bytes octets = {'n', 'e', 'w'};
  ASSERT_TRUE(replace_durably(file_, octets));
  EXPECT_EQ(read(), "new");
  EXPECT_EQ(mode(), 0600u);
  std::ofstream(file_ + ".new") << "left by a crash";
  ASSERT_TRUE(replace_durably(file_, "for all to read", 0644));
  EXPECT_EQ(read(), "for all to read");
  EXPECT_EQ(mode(), 0644u);
  EXPECT_FALSE(std::filesystem::exists(file_ + ".new"));
}

TEST_F(DurableFile, ReplaceThatFailsLeavesTheOldAlone) {
  put("old");
  const Bytes octets(100, 'x');
  {
    const SmallDisk small(50);
    EXPECT_FALSE(replace_durably(file_, octets));
    EXPECT_EQ(errno, EFBIG);
  }
  EXPECT_EQ(read(), "old");
  EXPECT_FALSE(std::filesystem::exists(file_ + ".new"));
  folders_fail = true;
  EXPECT_FALSE(replace_durably(file_, octets));
  EXPECT_EQ(errno, EIO);
  folders_fail = false;
  EXPECT_EQ(read(), "old");
}

// Seen by who has it open; a backup's name keeps it, and so does who did not ask.
TEST_F(DurableFile, TheOldOctetsAreWipedWhenNothingNamesThem) {
  const std::string secret(10'000, 's'), backup = folder_ + "/backup";
  const Bytes octets = {'n'};
  const auto octets_left = [&](OldFile old) {
    put(secret);
    const UniqueFd held(::open(file_.c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_TRUE(replace_durably(file_, octets, 0600, old));
    std::string now(secret.size(), '?');
    EXPECT_EQ(::pread(held.get(), now.data(), now.size(), 0), ssize_t(now.size()));
    return now;
  };
  EXPECT_EQ(octets_left(OldFile::kWiped), std::string(secret.size(), '\0'));
  EXPECT_EQ(octets_left(OldFile::kLeft), secret);
  put(secret);
  ASSERT_EQ(::link(file_.c_str(), backup.c_str()), 0);
  ASSERT_TRUE(replace_durably(file_, octets, 0600, OldFile::kWiped));
  std::ifstream in(backup, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), secret);
}

// One that a crash has left, and one that gets no further.
TEST_F(DurableFile, DraftsAreWipedWhereTheOldFileIs) {
  const std::string secret(10'000, 's'), draft = file_ + ".new";
  const auto all_of = [&](const UniqueFd& held) {
    std::string now(secret.size(), '?');
    EXPECT_EQ(::pread(held.get(), now.data(), now.size(), 0), ssize_t(now.size()));
    return now;
  };
  for (const OldFile old : {OldFile::kWiped, OldFile::kLeft}) {
    const std::string expected = old == OldFile::kWiped ? std::string(secret.size(), '\0') : secret;
    std::ofstream(draft) << secret;
    const UniqueFd left(::open(draft.c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(replace_durably(file_, Bytes{'n'}, 0600, old));
    EXPECT_EQ(all_of(left), expected);
    folders_fail = true;
    looked_at = draft.c_str();
    EXPECT_FALSE(replace_durably(file_, Bytes(secret.begin(), secret.end()), 0600, old));
    EXPECT_EQ(errno, EIO);
    folders_fail = false;
    looked_at = nullptr;
    const UniqueFd failed(seen);
    EXPECT_EQ(all_of(failed), expected);
    EXPECT_EQ(read(), "n");
    EXPECT_EQ(drafts(), 0);
  }
}

TEST_F(DurableFile, AppendKeepsWhatIsThere) {
  ASSERT_TRUE(append_durably(file_, "one\n"));
  EXPECT_EQ(mode(), 0600u);
  ASSERT_TRUE(append_durably(file_, "two\n"));
  EXPECT_EQ(read(), "one\ntwo\n");
  std::filesystem::create_symlink(file_, folder_ + "/link");
  EXPECT_FALSE(append_durably(folder_ + "/link", "three\n"));
  EXPECT_EQ(errno, ELOOP);
  EXPECT_FALSE(append_durably(folder_ + "/none/file", "three\n"));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(append_durably("/dev/full", "three\n"));
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(read(), "one\ntwo\n");
}

TEST_F(DurableFile, ALineThatDoesNotFitIsAFailure) {
  put("12345678");
  const SmallDisk disk(12);
  EXPECT_TRUE(append_durably(file_, "90"));
  EXPECT_FALSE(append_durably(file_, "abcdef")) << "two octets of it have room";
  EXPECT_EQ(errno, EFBIG);
  EXPECT_EQ(read(), "1234567890ab");
}

TEST_F(DurableFile, RemoveSaysWhetherItWasThere) {
  put("x");
  EXPECT_TRUE(remove_durably(file_));
  EXPECT_FALSE(std::filesystem::exists(file_));
  EXPECT_FALSE(remove_durably(file_));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(remove_durably(folder_ + "/none/file"));
}

TEST_F(DurableFile, AFolderThatCannotBeWritten) {
  put("x");
  const FolderMode unwritable(folder_, 0500);
  EXPECT_TRUE(sync_folder_of(file_)) << "the control: the folder can be reached";
  EXPECT_FALSE(create_file(folder_ + "/new"));
  EXPECT_EQ(errno, EACCES);
  EXPECT_FALSE(overwrite_durably(folder_ + "/new", "x"));
  EXPECT_EQ(errno, EACCES);
  EXPECT_FALSE(append_durably(folder_ + "/new", "x"));
  EXPECT_EQ(errno, EACCES);
  EXPECT_FALSE(remove_durably(file_));
  EXPECT_EQ(errno, EACCES);
}

// Whoever may write into a folder, but not read it, cannot sync it.
TEST_F(DurableFile, AFolderThatCannotBeSyncedIsAFailure) {
  const FolderMode unreadable(folder_, 0300);
  EXPECT_TRUE(create_file(file_)) << "the control: the folder can be written";
  EXPECT_FALSE(overwrite_durably(file_, "x"));
  EXPECT_EQ(errno, EACCES);
  EXPECT_EQ(read(), "x");
  EXPECT_FALSE(append_durably(file_, "y"));
  EXPECT_EQ(errno, EACCES);
  EXPECT_EQ(read(), "xy");
  EXPECT_FALSE(remove_durably(file_));
  EXPECT_EQ(errno, EACCES);
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(DurableFile, AFolderWhoseDiskFailsIsAFailure) {
  folders_fail = true;
  const bool synced = sync_folder(folder_);
  const int why = errno;
  const bool overwritten = overwrite_durably(file_, "x"), appended = append_durably(file_, "y");
  const std::string text = read();
  const bool removed = remove_durably(file_);
  folders_fail = false;
  EXPECT_FALSE(synced || overwritten || appended || removed);
  EXPECT_EQ(why, EIO);
  EXPECT_EQ(text, "xy") << "the control: the rest was done";
}

TEST_F(DurableFile, IsCreatedWholeOrNotAtAll) {
  const FileOwner me{::geteuid(), ::getegid()};
  EXPECT_TRUE(create_durably(file_, "first", me));
  EXPECT_EQ(mode(), 0600u);
  EXPECT_FALSE(create_durably(file_, "second", me));
  EXPECT_EQ(errno, EEXIST);
  EXPECT_EQ(read(), "first");
  EXPECT_EQ(drafts(), 0) << "no drafts are left";
  EXPECT_TRUE(remove_durably(file_));
  folders_fail = true;
  const bool synced = create_durably(file_, "third", me);
  folders_fail = false;
  EXPECT_FALSE(synced);
  EXPECT_EQ(read(), "third") << "the control: the rest was done";
  EXPECT_FALSE(create_durably(folder_ + "/none/file", "x", me));
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(DurableFile, ADraftThatACrashHasLeftIsNoFile) {
  const std::string draft = file_ + "." + std::to_string(::getpid());
  std::ofstream(draft) << "torn";
  EXPECT_TRUE(create_durably(file_, "whole", {::geteuid(), ::getegid()}));
  EXPECT_EQ(read(), "whole");
  EXPECT_FALSE(std::filesystem::exists(draft));
}

TEST_F(DurableFile, IsCreatedForItsOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  ASSERT_TRUE(create_durably(file_, "his", {kNobody, kNobody}));
  struct stat about {};
  ASSERT_EQ(::stat(file_.c_str(), &about), 0);
  EXPECT_EQ(about.st_uid, kNobody);
  EXPECT_EQ(about.st_gid, kNobody);
}

TEST_F(DurableFile, SyncsFoldersOnly) {
  put("x");
  EXPECT_TRUE(sync_folder(folder_));
  EXPECT_TRUE(sync_folder_of(file_));
  EXPECT_TRUE(sync_folder_of("name-without-a-folder"));
  EXPECT_FALSE(sync_folder(file_));
  EXPECT_EQ(errno, ENOTDIR);
  EXPECT_FALSE(sync_folder(folder_ + "/none"));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(sync_folder_of(folder_ + "/none/file"));
}

}  // namespace
}  // namespace tkdc
