// SPDX-License-Identifier: Apache-2.0
// How many jobs of one agent the leader lets run in a lane at once.
//
// All that run share the lane's rounds, so each takes the longer the more there are. Where several
// KDC agents ask (KDC hosts on one set of servers), one that asks for more than the servers can do
// would make everybody's jobs take longer than their agents wait, however fairly they are named. A
// login is several jobs, one after another. So while another agent asks, too, jobs that take more
// than a sixteenth of the time that they had halve the room, once for each generation, and quick
// ones widen it again. Where servers are far apart a round is long however few share it: then a
// smaller room would help nobody, and jobs are slow only when their rounds are longer than the
// shortest ones of this session, too. An agent alone keeps all of the room: what it asks for delays
// nobody else's. What has no room waits to be named, and costs nothing when its agent gives it up.
// Used by the lane's thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>

#include "base/machine.h"

namespace tkdc {

class AgentRoom {
 public:
  using Clock = SteadyClock;
  static constexpr std::size_t kMost = 1536;  // of an agent alone: room for others' stays
  static constexpr std::size_t kLeast = 64;   // and at first: batches stay worth their rounds
  static constexpr auto kRemembered = std::chrono::minutes(10);  // who asked last stays so long
  static constexpr int kSlow = 16, kQuick = 32;                  // of the time that a job had
  static constexpr int kLonger = 2;                              // than the shortest round
  static constexpr unsigned kMeasured = 64;  // rounds; a shorter job says little of a round
  static constexpr std::size_t kEnded = 8;   // so many quick ones widen it by one

  struct Ran {
    Clock::time_point started;
    Clock::duration had;  // between its arrival and its deadline
    std::uint64_t rounds;
  };

  void asked(std::uint64_t agent, Clock::time_point now) { asked_[agent] = now; }

  void ended(const Ran& ran, Clock::time_point now) {
    if (ran.rounds < kMeasured) return;
    const auto took = now - ran.started;
    const Clock::duration round = took / static_cast<Clock::rep>(ran.rounds);
    shortest_ = std::min(shortest_, round);
    const bool longer = round > kLonger * shortest_;
    if (longer && kSlow * took > ran.had) {
      if (ran.started < narrowed_) return;  // it ran beside those for which it was narrowed
      narrowed_ = now;
      most_ = std::max(kLeast, most_ / 2);
    } else if ((!longer || kQuick * took < ran.had) && ++quick_ % kEnded == 0) {
      most_ = std::min(kMost, most_ + 1);
    }
  }

  std::size_t of(std::uint64_t agent, Clock::time_point now) const {
    const bool shared = std::ranges::any_of(asked_, [&](const auto& one) {
      return one.first != agent && now - one.second <= kRemembered;
    });
    return shared ? most_ : kMost;
  }

 private:
  std::map<std::uint64_t, Clock::time_point> asked_;  // those that the configuration lists
  std::size_t most_ = kLeast, quick_ = 0;
  Clock::duration shortest_ = Clock::duration::max() / kLonger;
  Clock::time_point narrowed_{};
};

}  // namespace tkdc
