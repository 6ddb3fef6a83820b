// SPDX-License-Identifier: Apache-2.0
#include "service/server/file_room.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <string>

#include "base/system_error.h"

namespace tkdc {
namespace {

constexpr std::uint64_t kStepBytes = 64 * 1024;  // at once, so that few lines need a call
constexpr std::uint64_t kStatBlockBytes = 512;   // of st_blocks, whatever the file system has

}  // namespace

bool FileRoom::reserve_until(std::uint64_t until) const {
  const std::uint64_t more = until - until_;
  int failed = 0;
  do failed = fallocate(fd_, FALLOC_FL_KEEP_SIZE, off_t(until_), off_t(more));
  while (failed != 0 && errno == EINTR);
  if (failed == 0) return true;
  if (errno != EOPNOTSUPP && errno != ENOSYS) return false;
  // A file system that reserves nothing: whether there is room now is all that it says.
  struct statvfs disk {};
  if (fstatvfs(fd_, &disk) != 0) return false;
  if (std::uint64_t{disk.f_bavail} * disk.f_frsize >= more) return true;
  errno = ENOSPC;
  return false;
}

Result<void> FileRoom::make(std::uint64_t end, std::uint64_t bytes) {
  const std::uint64_t least = end + bytes + kReserveBytes;
  if (least <= until_) return {};
  for (const std::uint64_t until : {least + kStepBytes, least})
    if (reserve_until(until)) {
      until_ = until;
      return {};
    }
  return system_error("no room for it and 64 KiB more");
}

void FileRoom::adopt() {
  struct stat file {};
  if (fstat(fd_, &file) == 0) until_ = static_cast<std::uint64_t>(file.st_blocks) * kStatBlockBytes;
}

}  // namespace tkdc
