// SPDX-License-Identifier: Apache-2.0
// How far the three servers' clocks are apart: on lane 0 each tells both others its own, at a
// session's start and every ten seconds. Tickets carry the time of sealing, which each server
// checks by its own clock (service/sealing/nonce.h), so clocks that are too far apart stop all
// logins.
//
// ClockDifferences: any thread. ClockNotice: its lane's.
#pragma once

#include <array>
#include <chrono>
#include <mutex>
#include <optional>

#include "base/machine.h"
#include "link/link.h"
#include "service/sealing/nonce.h"

namespace tkdc {

// Within it every server takes the others' times of sealing.
inline constexpr std::int64_t kClockToleranceMs =
    std::int64_t{1'000} * kClockSkewUnits * kSealedAtUnitS;

// By Neighbour: how far its clock is ahead of this server's, in ms, the way here included; none:
// not heard in this session.
using ClocksAhead = std::array<std::optional<std::int64_t>, 2>;

class ClockDifferences {
 public:
  void note(Neighbour of, std::int64_t ahead_ms) {
    std::lock_guard lock(mutex_);
    ahead_[static_cast<std::size_t>(of)] = ahead_ms;
  }
  void forget() {
    std::lock_guard lock(mutex_);
    ahead_ = {};
  }
  ClocksAhead ahead() const {
    std::lock_guard lock(mutex_);
    return ahead_;
  }

 private:
  mutable std::mutex mutex_;
  ClocksAhead ahead_;
};

class ClockNotice {
 public:
  ClockNotice(ClockDifferences& differences, std::uint32_t lane, std::chrono::milliseconds every)
      : differences_(differences), used_(lane == 0), every_(every) {}

  bool due() const { return used_ && (!said_ || Clock::now() - *said_ >= every_); }

  // In each full tick: Unix ms.
  std::optional<std::uint64_t> say() {
    if (!due()) return std::nullopt;
    said_ = Clock::now();
    return static_cast<std::uint64_t>(wall_ms());
  }
  void hear(Neighbour of, std::optional<std::uint64_t> theirs) {
    constexpr std::uint64_t kFarthest = std::uint64_t{1} << 52;
    if (used_ && theirs && *theirs < kFarthest)
      differences_.note(of, static_cast<std::int64_t>(*theirs) - wall_ms());
  }

 private:
  using Clock = SteadyClock;

  ClockDifferences& differences_;
  const bool used_;
  const std::chrono::milliseconds every_;
  std::optional<Clock::time_point> said_;
};

}  // namespace tkdc
