// SPDX-License-Identifier: Apache-2.0
// Room on the disk behind the end of a file that only grows. What is reserved stays the file's
// while the disk is full, so that the reason why nothing is written any more can still be written.
// Not thread safe; used by the audit log.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace tkdc {

class FileRoom {
 public:
  static constexpr std::uint64_t kReserveBytes = 64 * 1024;

  explicit FileRoom(int fd) : fd_(fd) {}

  // Room for so many octets behind `end`, and kReserveBytes behind those. Error: the disk or a
  // quota is full.
  Result<void> make(std::uint64_t end, std::uint64_t bytes);
  // Whether what was reserved before takes so many octets.
  bool holds(std::uint64_t end, std::uint64_t bytes) const { return end + bytes <= until_; }
  // What the file has on its disk already, reserved by an earlier process.
  void adopt();

 private:
  bool reserve_until(std::uint64_t until) const;  // errno says why not

  int fd_;
  std::uint64_t until_ = 0;
};

}  // namespace tkdc
