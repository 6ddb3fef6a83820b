// SPDX-License-Identifier: Apache-2.0
// Lanes that compute cohort after cohort, in turn, until the time is over, and as many in each:
// which of them still do.
// Used by one thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace tkdc::bench {

class Turns {
 public:
  Turns(std::size_t lanes, double seconds)
      : end_(Clock::now() + std::chrono::duration<double>(seconds)), lanes_left_(lanes),
        begun_(lanes, 1), over_(lanes) {}

  bool running() const { return lanes_left_ > 0; }
  bool over(std::size_t lane) const { return over_[lane]; }
  std::size_t cohorts() const { return cohorts_; }

  // This lane's cohort has ended; whether it is to begin another.
  bool another(std::size_t lane) {
    ++cohorts_;
    if (begun_[lane] < most_begun_ || Clock::now() < end_) {
      most_begun_ = std::max(most_begun_, ++begun_[lane]);
      return true;
    }
    over_[lane] = true;
    --lanes_left_;
    return false;
  }

 private:
  using Clock = std::chrono::steady_clock;
  const std::chrono::time_point<Clock, std::chrono::duration<double>> end_;
  std::size_t cohorts_ = 0, lanes_left_, most_begun_ = 1;
  std::vector<std::size_t> begun_;
  std::vector<bool> over_;
};

}  // namespace tkdc::bench
