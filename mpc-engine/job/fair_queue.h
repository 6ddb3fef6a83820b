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

  void put(const JobName& name) { agents_[name.agent].due.push_back(name); }
  void put(const JobName& name, Clock::time_point not_before) {
    agents_[name.agent].later.emplace(not_before, name);
  }

  // When the first of them is due, perhaps long ago; nothing when none waits.
  std::optional<Clock::time_point> next_due() const {
    std::optional<Clock::time_point> next;
    for (const auto& [agent, jobs] : agents_) {
      if (!jobs.due.empty()) return Clock::time_point::min();
      const auto first = jobs.later.begin()->first;
      next = std::min(next.value_or(first), first);
    }
    return next;
  }

  // Up to `most` that are due; of each agent at most room_of(agent). Those that waits(name) knows
  // no more are dropped.
  template <typename RoomOf, typename Waits>
  std::vector<JobName> take(Clock::time_point now, std::size_t most, const RoomOf& room_of,
                            const Waits& waits) {
    std::map<std::uint64_t, std::size_t> room;
    for (auto& [agent, jobs] : agents_) {
      jobs.move_due(now);
      room[agent] = room_of(agent);
    }
    std::vector<JobName> out;
    for (std::size_t idle = 0; idle < agents_.size() && out.size() < most;) {
      auto turn = agents_.upper_bound(last_);
      if (turn == agents_.end()) turn = agents_.begin();
      last_ = turn->first;
      const bool took = room[last_] > 0 && take_one(turn->second.due, waits, out);
      if (took) room[last_]--;
      idle = took ? 0 : idle + 1;
    }
    std::erase_if(agents_, [](const auto& entry) { return entry.second.empty(); });
    return out;
  }

 private:
  struct OfAgent {
    std::deque<JobName> due;
    std::multimap<Clock::time_point, JobName> later;

    bool empty() const { return due.empty() && later.empty(); }
    void move_due(Clock::time_point now) {
      const auto end = later.upper_bound(now);
      for (auto it = later.begin(); it != end; ++it) due.push_back(it->second);
      later.erase(later.begin(), end);
    }
  };

  template <typename Waits>
  static bool take_one(std::deque<JobName>& due, const Waits& waits, std::vector<JobName>& out) {
    while (!due.empty()) {
      const JobName name = due.front();
      due.pop_front();
      if (!waits(name)) continue;
      out.push_back(name);
      return true;
    }
    return false;
  }

  std::map<std::uint64_t, OfAgent> agents_;  // with something waiting
  std::uint64_t last_ = 0;                   // whose turn it was
};

}  // namespace tkdc
