// SPDX-License-Identifier: Apache-2.0
// How fast a server sends what is made ahead: all its makers together, so many octets a second.
// Who has to wait sleeps; a maker sends pieces of some tens of KiB. Counts them too. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "base/machine.h"

namespace tkdc::threegarble {

class Pace {
 public:
  // 0: as fast as it goes.
  explicit Pace(std::uint64_t octets_per_s = 0) : octets_per_s_(octets_per_s) {}
  // Before so many leave.
  void spend(std::size_t octets);
  std::uint64_t spent() const { return spent_; }

 private:
  using Clock = SteadyClock;

  const std::uint64_t octets_per_s_;
  std::atomic<std::uint64_t> spent_{0};
  std::mutex mutex_;
  Clock::time_point next_;  // when the next ones may leave
};

}  // namespace tkdc::threegarble
