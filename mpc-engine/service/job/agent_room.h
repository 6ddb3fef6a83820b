// SPDX-License-Identifier: Apache-2.0
// How many jobs of one agent the leader lets run in a lane at once.
//
// All that run share the lane's rounds, so each round takes the longer the more there are. Where
// several KDC agents ask (KDC hosts on one set of servers), one that asks for more than the servers
// can do would make everybody's jobs take longer than their agents wait, however fairly they are
// named. A login is some thousand rounds, one after another. So while another agent asks, too, long
// rounds halve the room, once for each generation of jobs, and short ones widen it again. Where
// servers are far apart a round is long however few share it: then a smaller room would help
// nobody, and rounds are long only if the shortest ones of this hour are half of them or less. An
// agent alone keeps all of the room: what it asks for delays nobody else's. What has no room waits
// to be named, and costs nothing when its agent gives it up.
//
// Rounds are measured here and no agent says what is long: how long it would wait for its jobs
// changes nothing. Used by the lane's thread.
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
  static constexpr std::size_t kFirst = 256;  // beside another one, before anything is measured
  static constexpr std::size_t kLeast = 64;   // batches stay worth their rounds
  static constexpr auto kRemembered = std::chrono::minutes(10);  // who asked last stays so long
  static constexpr auto kLong = std::chrono::microseconds(400), kShort = kLong / 2;  // rounds
  static constexpr int kLonger = 2;                             // than the shortest
  static constexpr auto kMeasuredAnew = std::chrono::hours(1);  // the shortest: routes change
  static constexpr unsigned kMeasured = 64;  // rounds; a shorter job says little of a round
  static constexpr std::size_t kEnded = 8;   // so many with short ones widen it by one

  void asked(std::uint64_t agent, Clock::time_point now) { asked_[agent] = now; }

  // A job has run from `started` until now, so many rounds.
  void ended(Clock::time_point started, std::uint64_t rounds, Clock::time_point now) {
    if (rounds < kMeasured) return;
    const Clock::duration round = (now - started) / static_cast<Clock::rep>(rounds);
    if (now - since_ >= kMeasuredAnew) {
      since_ = now;
      shortest_ = round;
    }
    shortest_ = std::min(shortest_, round);
    const bool longer = round > kLonger * shortest_;
    if (longer && round > kLong) {
      if (started < narrowed_) return;  // it ran beside those for which it was narrowed
      narrowed_ = now;
      most_ = std::max(kLeast, most_ / 2);
    } else if ((!longer || round < kShort) && ++quick_ % kEnded == 0) {
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
  std::size_t most_ = kFirst, quick_ = 0;
  Clock::duration shortest_ = Clock::duration::max() / kLonger;
  Clock::time_point since_{}, narrowed_{};
};

}  // namespace tkdc
