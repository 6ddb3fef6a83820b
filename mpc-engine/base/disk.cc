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
  void wipe_if_nameless() override {
    struct stat file {};
    if (::fstat(fd_.get(), &file) != 0 || file.st_nlink != 0) return;
    const Bytes zeros(4096);
    for (off_t at = 0; at < file.st_size;) {
      const auto left = static_cast<std::size_t>(file.st_size - at);
      const ssize_t n = ::pwrite(fd_.get(), zeros.data(), std::min(zeros.size(), left), at);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      at += n;
    }
    (void)::fsync(fd_.get());
  }

 private:
  UniqueFd fd_;
  bool only_looks_ = false;
};

constexpr int kReadAgain = 8;

int flags_of(Disk::How how) {
  switch (how) {
    case Disk::How::kAppend: return O_CREAT | O_APPEND | O_NOFOLLOW;
    case Disk::How::kOverwrite: return O_CREAT | O_TRUNC;
    case Disk::How::kNew: return O_CREAT | O_EXCL | O_NOFOLLOW;
    default: return O_NOFOLLOW | O_NONBLOCK;
  }
}

class RealDisk final : public Disk {
 public:
  std::unique_ptr<File> open(const std::string& path, How how, mode_t mode) override {
    UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags_of(how), mode));
    // Whatever the umask is.
    if (!fd || (how == How::kNew && ::fchmod(fd.get(), mode) != 0)) return nullptr;
    return std::make_unique<RealFile>(std::move(fd));
  }

  std::optional<std::string> read(const std::string& path, std::uint64_t from,
                                  std::size_t most) override {
    const UniqueFd fd(open_to_read(path));
    if (!fd) return std::nullopt;
    return read(fd, from, most);
  }

  std::optional<std::string> read_named(const std::string& path, std::size_t most) override {
    for (int k = 0; k < kReadAgain; ++k) {
      const UniqueFd fd(open_to_read(path));
      if (!fd) return std::nullopt;
      auto text = read(fd, 0, most);
      struct stat file {};
      if (!text || ::fstat(fd.get(), &file) != 0) return std::nullopt;
      if (file.st_nlink > 0) return text;
    }
    errno = ESTALE;
    return std::nullopt;
  }

  bool remove(const std::string& path) override { return ::unlink(path.c_str()) == 0; }

  bool rename(const std::string& from, const std::string& to) override {
    return ::rename(from.c_str(), to.c_str()) == 0;
  }

  bool sync_folder(const std::string& folder) override {
    const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return fd && ::fsync(fd.get()) == 0;
  }

 private:
  static UniqueFd open_to_read(const std::string& path) {
    return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  }

  static std::optional<std::string> read(const UniqueFd& fd, std::uint64_t from, std::size_t most) {
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
};

RealDisk real_disk;
Disk* current_disk = &real_disk;

}  // namespace

Disk& disk() { return *current_disk; }

void use_disk(Disk& other) { current_disk = &other; }

}  // namespace tkdc
