// SPDX-License-Identifier: Apache-2.0
// How much of its time a lane has had jobs at work, of late. Each server's own; used by the lane's
// thread. Public.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

namespace tkdc {

class LaneLoad {
 public:
  using Time = std::chrono::duration<double>;
  // What was longer ago hardly counts.
  static constexpr Time kLately{1};

  void pass(Time time, bool jobs_at_work) {
    const double now = jobs_at_work ? 1 : 0;
    part_ += std::clamp(time / kLately, 0.0, 1.0) * (now - part_);
  }
  // `at_work` since the last call. How long that is ago.
  using Clock = std::chrono::steady_clock;
  Clock::duration note(Clock::time_point now, bool at_work) {
    const Clock::duration passed = now - std::exchange(noted_at_, now);
    pass(passed, at_work);
    return passed;
  }
  // 0 to 1.
  double part() const { return part_; }

 private:
  double part_ = 0;
  Clock::time_point noted_at_;
};

}  // namespace tkdc
