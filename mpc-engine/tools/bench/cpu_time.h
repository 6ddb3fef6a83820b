// SPDX-License-Identifier: Apache-2.0
// The CPU time of this process, all its threads together.
#pragma once

#include <sys/resource.h>

namespace tkdc::bench {

inline double cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

}  // namespace tkdc::bench
