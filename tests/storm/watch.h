// SPDX-License-Identifier: Apache-2.0
// CPU, memory and open files of other processes on this machine, once a second.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tkdc::storm {

struct ProcessUsage {
  double user_s = 0, system_s = 0;  // since the process started
  double resident_mb = 0;
  int files = 0;
  double cpu_s() const { return user_s + system_s; }
};

struct Watched {
  std::string name;
  std::vector<int> pids;  // taken together, as are a program's workers
  ProcessUsage first;
  std::vector<ProcessUsage> seconds;
  double cpu_s() const { return seconds.empty() ? 0 : seconds.back().cpu_s() - first.cpu_s(); }
};

// NAME=PID[+PID...]; false when it is not that.
bool parse_watched(const std::string& text, Watched& out);
// All of them together; what has ended counts as nothing.
ProcessUsage usage_of(const std::vector<int>& pids);

class Watch {
 public:
  explicit Watch(std::vector<Watched> processes);
  void begin();
  void tick();
  const std::vector<Watched>& processes() const { return processes_; }

 private:
  std::vector<Watched> processes_;
};

}  // namespace tkdc::storm
