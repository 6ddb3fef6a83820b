// SPDX-License-Identifier: Apache-2.0
#include "threegarble/pace.h"

#include <algorithm>

namespace tkdc::threegarble {

void Pace::spend(std::size_t octets) {
  spent_ += octets;
  if (octets_per_s_ == 0) return;
  const auto takes = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
      static_cast<double>(octets) / static_cast<double>(octets_per_s_)));
  Clock::time_point mine;
  {
    const std::lock_guard lock(mutex_);
    mine = std::max(next_, Clock::now());
    next_ = mine + takes;
  }
  if (const auto now = Clock::now(); mine > now)
    machine().pause(std::chrono::ceil<std::chrono::microseconds>(mine - now));
}

}  // namespace tkdc::threegarble
