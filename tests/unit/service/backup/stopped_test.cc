// SPDX-License-Identifier: Apache-2.0
// Who asks a backup, a check or a restore to stop finds all as it was before.
#include <gtest/gtest.h>

#include "scratch_backup.h"

namespace tkdc {
namespace {

namespace fs = std::filesystem;

class StoppedBackup : public ScratchBackup {
 protected:
  // Until it has looked so often.
  Watch stops_after(std::size_t looks) {
    looks_ = 0;
    return [this, looks](std::uint64_t done, std::uint64_t of) {
      EXPECT_LE(done, of);
      EXPECT_GE(done, done_);
      done_ = done;
      return looks_++ < looks;
    };
  }
  void expect_stopped(const std::string& message) const {
    EXPECT_NE(message.find("stopped, as it was asked to"), std::string::npos) << message;
  }

  std::size_t looks_ = 0;
  std::uint64_t done_ = 0;
};

TEST_F(StoppedBackup, ABackupThatIsNotWholeIsNotThere) {
  fill_store();
  store_.reset();
  TakeOptions options;
  options.store = options_;
  options.folder = folder_;
  options.recipient = backup_public_key(secret_);
  options.watch = stops_after(4);
  auto taken = take_backup(options, key_);
  ASSERT_FALSE(taken.ok());
  expect_stopped(taken.error().message);
  EXPECT_EQ(looks_, 5u);
  EXPECT_TRUE(fs::is_empty(folder_)) << "also of what was half made";
  done_ = 0;
  options.watch = stops_after(1'000);
  ASSERT_TRUE(take_backup(options, key_).ok());
  EXPECT_EQ(looks_, 13u) << "each value that is not a file's";
}

TEST_F(StoppedBackup, ACheckThatIsStoppedSaysNothingOfTheBackup) {
  fill_store();
  const std::string path = taken();
  auto fd = open_backup(path);
  ASSERT_TRUE(fd.ok());
  auto reader = BackupReader::open(*fd, path, secret_);
  ASSERT_TRUE(reader.ok());
  auto checked = check_backup(**reader, stops_after(2));
  ASSERT_FALSE(checked.ok());
  expect_stopped(checked.error().message);
  reader = BackupReader::open(*fd, path, secret_);
  done_ = 0;
  ASSERT_TRUE(check_backup(**reader, stops_after(1'000)).ok());
  EXPECT_EQ(done_, (*reader)->head().body_bytes) << "to its end";
}

TEST_F(StoppedBackup, ARestoreThatIsStoppedChangesNothing) {
  fill_store();
  const std::string path = taken();
  open();
  add(77);
  RestoreOptions options = restore_options();
  options.replace = true;
  // Amid the values, and when all but the last step is done.
  for (const std::size_t looks : {std::size_t{0}, std::size_t{3}, std::size_t{15}}) {
    done_ = 0;
    options.watch = stops_after(looks);
    expect_stopped(why_not(path, options));
    EXPECT_EQ(looks_, looks + 1);
    open();
    EXPECT_NE(*store_->get(id_of(77)), nullptr) << "the store of before";
    for (const auto& entry : fs::directory_iterator(fs::path(options_.path).parent_path()))
      EXPECT_EQ(entry.path().string().find(options_.path + "."), std::string::npos) << entry;
  }
  done_ = 0;
  options.watch = stops_after(16);
  EXPECT_EQ(why_not(path, options), "restored");
}

}  // namespace
}  // namespace tkdc
