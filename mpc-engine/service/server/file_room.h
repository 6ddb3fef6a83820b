// SPDX-License-Identifier: Apache-2.0
// Room on the disk behind the end of a file that only grows. What is reserved stays the file's
// while the disk is full, so that the reason why nothing is written any more can still be written.
// Not thread safe; used by the audit log.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/disk.h"
#include "base/result.h"

namespace tkdc {

class FileRoom {
 public:
  static constexpr std::uint64_t kReserveBytes = 64 * 1024;

  // Room for so many octets behind `end`, and kReserveBytes behind those. Error: the disk or a
  // quota is full. `kept`: so much more is reserved, while the disk has it.
  Result<void> make(Disk::File& file, std::uint64_t end, std::uint64_t bytes,
                    std::uint64_t kept = 0);
  // Whether there is room for so many octets, be it out of what was reserved, by a process of
  // before too.
  bool takes(Disk::File& file, std::uint64_t end, std::uint64_t bytes);
  // How much is reserved behind `end`.
  std::uint64_t left(std::uint64_t end) const { return until_ - std::min(end, until_); }

 private:
  void keep(Disk::File& file, std::uint64_t end, std::uint64_t kept);

  std::uint64_t until_ = 0;
  std::uint64_t ask_at_ = 0;  // the next end at which `kept` is asked for
};

}  // namespace tkdc
