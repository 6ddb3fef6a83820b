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

#include "base/machine.h"
#include "service/wire/message.h"

namespace tkdc {

class FairQueue {
 public:
  using Clock = SteadyClock;

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

  struct Room {
    std::size_t jobs, octets;
  };
  // As many that are due as there is room for; of each agent at most room_of(agent) jobs.
  // octets_of(name) is how many one takes; those of which it knows none any more are dropped.
  template <typename RoomOf, typename OctetsOf>
  std::vector<JobName> take(Clock::time_point now, Room most, const RoomOf& room_of,
                            const OctetsOf& octets_of) {
    std::map<std::uint64_t, std::size_t> room;
    for (auto& [agent, jobs] : agents_) {
      jobs.move_due(now);
      room[agent] = room_of(agent);
    }
    std::vector<JobName> out;
    for (std::size_t idle = 0; idle < agents_.size() && out.size() < most.jobs;) {
      auto turn = agents_.upper_bound(last_);
      if (turn == agents_.end()) turn = agents_.begin();
      last_ = turn->first;
      const bool took = room[last_] > 0 && take_one(turn->second.due, octets_of, most.octets, out);
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

  template <typename OctetsOf>
  static bool take_one(std::deque<JobName>& due, const OctetsOf& octets_of, std::size_t& room,
                       std::vector<JobName>& out) {
    for (; !due.empty(); due.pop_front()) {
      const std::optional<std::size_t> octets = octets_of(due.front());
      if (!octets) continue;
      if (*octets > room) return false;
      room -= *octets;
      out.push_back(due.front());
      due.pop_front();
      return true;
    }
    return false;
  }

  std::map<std::uint64_t, OfAgent> agents_;  // with something waiting
  std::uint64_t last_ = 0;                   // whose turn it was
};

}  // namespace tkdc
