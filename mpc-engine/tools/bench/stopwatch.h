// SPDX-License-Identifier: Apache-2.0
// Wall time and this process's CPU time since it was made.
#pragma once

#include <chrono>

#include "tools/bench/cpu_time.h"

namespace tkdc::bench {

class Stopwatch {
 public:
  double wall_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  double cpu_s() const { return cpu_seconds() - cpu_; }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double cpu_ = cpu_seconds();
};

}  // namespace tkdc::bench
