// SPDX-License-Identifier: Apache-2.0
#include "service/server/file_room.h"

#include <algorithm>

#include "base/system_error.h"

namespace tkdc {
namespace {

constexpr std::uint64_t kStepBytes = 64 * 1024;  // at once, so that few lines need a call

}  // namespace

// A disk that is full is not asked again for each line.
void FileRoom::keep(Disk::File& file, std::uint64_t end, std::uint64_t kept) {
  const std::uint64_t until = end + kept;
  if (until <= until_ || end < ask_at_) return;
  ask_at_ = end + kStepBytes;
  const std::uint64_t from = std::max(end, until_);
  if (file.reserve(from, until + kStepBytes - from) && !file.only_looks())
    until_ = until + kStepBytes;
}

Result<void> FileRoom::make(Disk::File& file, std::uint64_t end, std::uint64_t bytes,
                            std::uint64_t kept) {
  if (kept > 0) keep(file, end, kept);
  const std::uint64_t least = end + bytes + kReserveBytes;
  if (least <= until_) return {};
  const std::uint64_t from = std::max(end, until_);
  for (const std::uint64_t until : {least + kStepBytes, least})
    if (file.reserve(from, until - from)) {
      until_ = until;
      return {};
    }
  return system_error("no room for it and 64 KiB more");
}

bool FileRoom::takes(Disk::File& file, std::uint64_t end, std::uint64_t bytes) {
  return end + bytes <= until_ || file.reserve(end, bytes);
}

}  // namespace tkdc
