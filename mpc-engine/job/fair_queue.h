// SPDX-License-Identifier: Apache-2.0
// Jobs that wait to be named in a manifest: each agent's in the order in which they came, the
// agents in turn. So one that asks for thousands at once makes itself wait, not the others.
// Not thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "job/message.h"

namespace tkdc {

class FairQueue {
 public:
  using Clock = std::chrono::steady_clock;

  void put(const JobName& name, Clock::time_point not_before = Clock::time_point::min()) {
    agents_[name.agent].push_back({not_before, name});
  }

  // When the first of them is due; nothing when none waits.
  std::optional<Clock::time_point> next_due() const {
    std::optional<Clock::time_point> next;
    for (const auto& [agent, jobs] : agents_)
      for (const Entry& entry : jobs)
        if (!next || entry.not_before < *next) next = entry.not_before;
    return next;
  }

  // Up to `most` that are due; of each agent at most room_of(agent).
  template <typename RoomOf>
  std::vector<JobName> take(Clock::time_point now, std::size_t most, const RoomOf& room_of) {
    std::map<std::uint64_t, std::size_t> room;
    for (const auto& [agent, jobs] : agents_) room[agent] = room_of(agent);
    std::vector<JobName> out;
    for (std::size_t idle = 0; idle < agents_.size() && out.size() < most;) {
      auto turn = agents_.upper_bound(last_);
      if (turn == agents_.end()) turn = agents_.begin();
      last_ = turn->first;
      const bool took = room[last_] > 0 && take_one(turn->second, now, out);
      if (took) room[last_]--;
      idle = took ? 0 : idle + 1;
    }
    std::erase_if(agents_, [](const auto& entry) { return entry.second.empty(); });
    return out;
  }

 private:
  struct Entry {
    Clock::time_point not_before;
    JobName name;
  };

  static bool take_one(std::deque<Entry>& jobs, Clock::time_point now, std::vector<JobName>& out) {
    auto due = std::ranges::find_if(jobs, [&](const Entry& e) { return e.not_before <= now; });
    if (due == jobs.end()) return false;
    out.push_back(due->name);
    jobs.erase(due);
    return true;
  }

  std::map<std::uint64_t, std::deque<Entry>> agents_;  // with something waiting
  std::uint64_t last_ = 0;                             // whose turn it was
};

}  // namespace tkdc
