// SPDX-License-Identifier: Apache-2.0
// What the control plane remembers of each agent: where its answers go, the
// last job number of each of its runs, and how many jobs are under way.
//
// Numbers must grow within a run, so a frame that comes twice runs once.
// Used by the control thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace tkdc {

class AgentRuns {
 public:
  static constexpr std::size_t kMaxRuns = 64;  // remembered per agent

  struct Run {
    std::string route;  // ZeroMQ routing id of its newest connection
    std::uint64_t last_number = 0;
    std::size_t pending = 0;
  };

  enum class Arrival { kNew, kReplay, kTooManyRuns };

  // A job arrived. kNew: the run's route and number are updated.
  Arrival arrived(std::uint64_t run, std::uint64_t number, const std::string& route) {
    auto found = runs_.find(run);
    if (found == runs_.end()) {
      if (runs_.size() >= kMaxRuns && !forget_idle()) return Arrival::kTooManyRuns;
      found = runs_.emplace(run, Run{}).first;
      order_.push_back(run);
    } else if (number <= found->second.last_number) {
      return Arrival::kReplay;
    }
    found->second.last_number = number;
    found->second.route = route;
    return Arrival::kNew;
  }

  void started(std::uint64_t run) {
    runs_[run].pending++;
    pending_++;
  }

  // Null when the run is unknown.
  const Run* answered(std::uint64_t run) {
    auto found = runs_.find(run);
    if (found == runs_.end() || found->second.pending == 0) return nullptr;
    found->second.pending--;
    pending_--;
    return &found->second;
  }

  std::size_t pending() const { return pending_; }

 private:
  // The oldest run without work; an agent that starts anew draws a new one.
  bool forget_idle() {
    auto idle = std::find_if(order_.begin(), order_.end(),
                             [this](std::uint64_t s) { return runs_[s].pending == 0; });
    if (idle == order_.end()) return false;
    runs_.erase(*idle);
    order_.erase(idle);
    return true;
  }

  std::map<std::uint64_t, Run> runs_;
  std::deque<std::uint64_t> order_;
  std::size_t pending_ = 0;
};

}  // namespace tkdc
