// SPDX-License-Identifier: Apache-2.0
// Faults inside the replacing of `keys`: its draft, the rename, the folder, what is overwritten. A
// process dies before each of them, or in the middle of a write; or the disk refuses it. And
// readers beside a refresh, which TSan builds look at.
#include <atomic>
#include <thread>

#include "epoch_keys.h"

namespace {

// The at-th thing that is asked of the disk for `keys` or a folder.
struct DiskFault {
  int at = 0, seen = 0;
  bool dies = false;
};
DiskFault disk_fault;

bool is_fault(std::string_view path) {
  constexpr std::string_view kGone = " (deleted)";
  if (path.ends_with(kGone)) path.remove_suffix(kGone.size());
  if (disk_fault.at == 0 ||
      !(path.ends_with("/keys") || path.ends_with("/keys.new") || path.ends_with("/store")))
    return false;
  return ++disk_fault.seen == disk_fault.at;
}

bool is_fault(int fd) {
  if (disk_fault.at == 0) return false;
  char path[4096];
  const ssize_t n = ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path, sizeof path);
  return n > 0 && is_fault(std::string_view(path, static_cast<std::size_t>(n)));
}

int refused() {
  if (disk_fault.dies) _exit(tkdc::kDied);
  errno = EIO;
  return -1;
}

}  // namespace

// In the kernel's place (CMakeLists.txt).
extern "C" {
int __real_fsync(int fd);
int __real_rename(const char* from, const char* to);
int __real_unlink(const char* path);
ssize_t __real_write(int fd, const void* octets, size_t count);
ssize_t __real_pwrite(int fd, const void* octets, size_t count, off_t at);

int __wrap_fsync(int fd) { return is_fault(fd) ? refused() : __real_fsync(fd); }
int __wrap_rename(const char* from, const char* to) {
  return is_fault(from) ? refused() : __real_rename(from, to);
}
int __wrap_unlink(const char* path) { return is_fault(path) ? refused() : __real_unlink(path); }
ssize_t __wrap_write(int fd, const void* octets, size_t count) {
  if (!is_fault(fd)) return __real_write(fd, octets, count);
  (void)__real_write(fd, octets, count / 2);
  return refused();
}
ssize_t __wrap_pwrite(int fd, const void* octets, size_t count, off_t at) {
  if (!is_fault(fd)) return __real_pwrite(fd, octets, count, at);
  (void)__real_pwrite(fd, octets, count / 2, at);
  return refused();
}
}

namespace tkdc {
namespace {

constexpr int kAtLeast = 2 * 6;  // two files replaced, each in so many steps

class EpochKeysFaults : public EpochKeys {
 protected:
  ~EpochKeysFaults() override { disk_fault = {}; }
  int dies_at(int step) {
    store_.reset();
    const pid_t child = fork();
    if (child == 0) {
      auto opened = Store::open(options_, key_);
      if (!opened.ok()) _exit(3);
      disk_fault = {.at = step, .dies = true};
      _exit(refresh_to_end(**opened, all(2)).ok() ? kEnded : 4);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  void start(bool as_before) {
    store_.reset();
    fs::remove_all(options_.path);
    as_before ? fill_as_before() : fill();
  }
};

TEST_F(EpochKeysFaults, ACrashAtEachStepOfReplacingTheFile) {
  for (const bool as_before : {false, true})
    for (const bool commits : {false, true})
      for (int step = 1;; ++step) {
        SCOPED_TRACE(std::to_string(step) + (as_before ? " first" : "") +
                     (commits ? " committed" : " abandoned"));
        ASSERT_NO_FATAL_FAILURE(start(as_before));
        const int ended = dies_at(step);
        ASSERT_TRUE(ended == kDied || ended == kEnded) << ended;
        if (ended == kEnded) {
          EXPECT_GT(step, as_before ? kAtLeast / 2 : kAtLeast);
          break;
        }
        ASSERT_NO_FATAL_FAILURE(goes_on(commits));
        EXPECT_FALSE(fs::exists(file("keys.new")));
      }
}

TEST_F(EpochKeysFaults, ADiskThatRefusesEachStepOfReplacingTheFile) {
  for (const bool as_before : {false, true})
    for (int step = 1;; ++step) {
      SCOPED_TRACE(std::to_string(step) + (as_before ? " first" : ""));
      ASSERT_NO_FATAL_FAILURE(start(as_before));
      disk_fault = {.at = step};
      (void)refresh_to_end(*store_, all(2));
      const bool was_there = disk_fault.seen >= step;
      disk_fault = {};
      ASSERT_NO_FATAL_FAILURE(goes_on(true));
      if (!was_there) {
        EXPECT_GT(step, as_before ? kAtLeast / 2 : kAtLeast);
        break;
      }
    }
}

// Also by the step behind the rename: the file has the new key, and nobody took it for written.
TEST_F(EpochKeysFaults, NoKeyStaysThatNothingNames) {
  std::size_t refused = 0;
  for (int step = 1;; ++step) {
    SCOPED_TRACE(step);
    ASSERT_NO_FATAL_FAILURE(start(false));
    disk_fault = {.at = step};
    const auto begun = store_->refresh()->begin();
    const bool was_there = disk_fault.seen >= step;
    disk_fault = {};
    if (!was_there) break;
    if (begun.ok()) continue;
    ++refused;
    ASSERT_TRUE(store_->refresh()->tidy().ok());
    EXPECT_EQ(epochs(), 1u);
    open();
    EXPECT_EQ(epochs(), 1u);
  }
  EXPECT_GT(refused, 2u);
}

// No session is at work where the pairs are swapped.
TEST_F(EpochKeysFaults, ReadersBesideARefresh) {
  fill();
  for (std::uint32_t is = 1; is <= 8; ++is) {
    RefreshTable& table = *store_->refresh();
    const auto beside = [&](std::uint32_t expected, const std::function<Result<void>()>& steps) {
      std::atomic<bool> over{false};
      std::atomic<int> wrong{0}, read{0};
      const auto reads = [&] {
        do {
          const auto page = store_->macs()->page(std::nullopt, 10);
          if (!page.ok() || page->size() != 3) ++wrong;
          if (page.ok())
            for (const StoredKey& one : *page)
              if (!one.macs || one.record->version != expected) ++wrong;
          const auto mac_keys = store_->macs()->keys();
          if (!mac_keys.ok() || !std::ranges::equal(*mac_keys, mac_keys_)) ++wrong;
          const auto got = store_->get(id_of(2));
          if (!got.ok() || *got == nullptr || (*got)->version != expected) ++wrong;
          ++read;
        } while (!over);
      };
      std::thread one(reads), another(reads);
      const auto done = steps();
      while (read < 4) std::this_thread::yield();
      over = true;
      one.join();
      another.join();
      ASSERT_TRUE(done.ok()) << done.error().message;
      EXPECT_EQ(wrong, 0);
    };
    ASSERT_NO_FATAL_FAILURE(beside(is, [&] {
      Result<void> done = table.begin();
      if (done.ok()) done = table.add(all(is + 1));
      if (done.ok()) done = store_->macs()->set_keys(mac_keys_);
      if (done.ok()) done = table.prepare_refresh(1);
      return done.ok() ? table.commit_refresh() : done;
    }));
    table.switch_over();
    ASSERT_NO_FATAL_FAILURE(beside(is + 1, [&] {
      const auto begun = table.begun_with();
      return begun.ok() ? table.tidy() : begun;
    }));
    EXPECT_EQ(epochs(), 1u);
  }
}

}  // namespace
}  // namespace tkdc
