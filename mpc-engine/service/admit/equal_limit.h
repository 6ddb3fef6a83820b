// SPDX-License-Identifier: Apache-2.0
// How often a principal's keys may be compared with new ones (service/lifecycle/equal.h): who has
// an admin agent could otherwise try passwords here as fast as the servers compute.
//
// `burst` comparisons at once, then one `every` so often (JobServiceOptions). A change of a
// password with a history of N compares each new key with N old ones of its enctype, so the burst
// allows five tries with 25 passwords of four enctypes. Each server counts for itself, over
// sessions, and one that refuses is enough. For each principal one time is kept: when its allowance
// will be whole again. Where too many are short of theirs, others are refused: a limit that can be
// washed out is none.
//
// Thread-safe; holds digests of principals' names.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>

#include "base/machine.h"
#include "service/wire/message.h"

namespace tkdc {

class EqualLimit {
 public:
  using Clock = SteadyClock;
  static constexpr std::size_t kMaxPrincipals = 65'536;

  EqualLimit(std::uint32_t burst, std::chrono::seconds every) : burst_(burst), every_(every) {}

  bool may_compare(const PrincipalDigest& principal, Clock::time_point now = Clock::now()) {
    std::lock_guard lock(mutex_);
    auto it = whole_at_.find(principal);
    if (it != whole_at_.end()) return it->second <= now + (burst_ - 1) * every_;
    if (whole_at_.size() >= kMaxPrincipals)
      std::erase_if(whole_at_, [&](const auto& entry) { return entry.second <= now; });
    return burst_ > 0 && whole_at_.size() < kMaxPrincipals;
  }

  // An admitted job compares.
  void compared(const PrincipalDigest& principal, Clock::time_point now = Clock::now()) {
    std::lock_guard lock(mutex_);
    Clock::time_point& at = whole_at_[principal];
    at = std::max(at, now) + every_;
  }

 private:
  const std::uint32_t burst_;
  const std::chrono::seconds every_;
  std::mutex mutex_;
  std::map<PrincipalDigest, Clock::time_point> whole_at_;
};

}  // namespace tkdc
