// SPDX-License-Identifier: Apache-2.0
#include "base/disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/unique_fd.h"

namespace tkdc {
namespace {

class RealFile final : public Disk::File {
 public:
  explicit RealFile(UniqueFd fd) : fd_(std::move(fd)) {}
  ssize_t write(ByteSpan contents) override {
    return ::write(fd_.get(), contents.data(), contents.size());
  }
  bool sync() override { return ::fsync(fd_.get()) == 0; }
  bool reserve(std::uint64_t from, std::uint64_t octets) override {
    int failed = 0;
    do
      failed = ::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(from),
                           static_cast<off_t>(octets));
    while (failed != 0 && errno == EINTR);
    if (failed == 0) return true;
    if (errno != EOPNOTSUPP && errno != ENOSYS) return false;
    only_looks_ = true;
    // A file system that reserves nothing: whether there is room now is all that it says.
    struct statvfs disk {};
    if (::fstatvfs(fd_.get(), &disk) != 0) return false;
    if (std::uint64_t{disk.f_bavail} * disk.f_frsize >= octets) return true;
    errno = ENOSPC;
    return false;
  }
  bool only_looks() const override { return only_looks_; }
  // To the length that it has: that frees blocks behind the end.
  void give_back() override {
    struct stat file {};
    if (::fstat(fd_.get(), &file) == 0) (void)!::ftruncate(fd_.get(), file.st_size);
  }

 private:
  UniqueFd fd_;
  bool only_looks_ = false;
};

class RealDisk final : public Disk {
 public:
  std::unique_ptr<File> open(const std::string& path, How how, mode_t mode) override {
    const int flags = how == How::kAppend ? O_APPEND | O_NOFOLLOW : O_TRUNC;
    UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, mode));
    if (!fd) return nullptr;
    return std::make_unique<RealFile>(std::move(fd));
  }

  std::optional<std::string> read(const std::string& path, std::uint64_t from,
                                  std::size_t most) override {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!fd) return std::nullopt;
    constexpr std::size_t kPiece = 64 * 1024;
    std::string text;
    while (text.size() < most) {
      const std::size_t before = text.size();
      text.resize(std::min(most, before + kPiece));
      const ssize_t n = ::pread(fd.get(), text.data() + before, text.size() - before,
                                static_cast<off_t>(from + before));
      text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return std::nullopt;
      if (n == 0) break;
    }
    return text;
  }

  bool remove(const std::string& path) override { return ::unlink(path.c_str()) == 0; }

  bool rename(const std::string& from, const std::string& to) override {
    return ::rename(from.c_str(), to.c_str()) == 0;
  }

  bool sync_folder(const std::string& folder) override {
    const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return fd && ::fsync(fd.get()) == 0;
  }
};

RealDisk real_disk;
Disk* current_disk = &real_disk;

}  // namespace

Disk& disk() { return *current_disk; }

void use_disk(Disk& other) { current_disk = &other; }

}  // namespace tkdc
