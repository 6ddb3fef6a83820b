// SPDX-License-Identifier: Apache-2.0
// Replies to a login (seal, usage 3) that no opened timestamp (open, usage 1) or
// challenge (usage 54) of the same principal came before: what an intruder on the
// KDC's host does who gathers material for guessing passwords. An alarm and no
// refusal, since the servers cannot tell it from a principal that needs no
// preauthentication, and the KDC's database is what says which those are.
//
// Each server watches for itself. One opened timestamp is good for one reply,
// within kWindow. Thread-safe; holds digests of principals' names.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>

#include "base/machine.h"
#include "service/wire/message.h"

namespace tkdc {

class PreauthWatch {
 public:
  using Clock = SteadyClock;
  static constexpr auto kWindow = std::chrono::minutes(5);
  static constexpr std::size_t kMaxPrincipals = 65'536;

  void opened(const PrincipalDigest& principal, Clock::time_point now = Clock::now()) {
    std::lock_guard lock(mutex_);
    if (open_.size() >= kMaxPrincipals) make_room(now);
    Opened& o = open_[principal];
    o.replies++;
    o.last = now;
  }

  // False, and counted, when nothing was opened for it.
  bool sealed(const PrincipalDigest& principal, Clock::time_point now = Clock::now()) {
    std::lock_guard lock(mutex_);
    auto it = open_.find(principal);
    const bool expected = it != open_.end() && now - it->second.last <= kWindow;
    if (it != open_.end() && (!expected || --it->second.replies == 0)) open_.erase(it);
    if (!expected) ++alarms_;
    return expected;
  }

  std::size_t principals() const {
    std::lock_guard lock(mutex_);
    return open_.size();
  }
  std::uint64_t alarms() const {
    std::lock_guard lock(mutex_);
    return alarms_;
  }

 private:
  struct Opened {
    std::uint32_t replies = 0;
    Clock::time_point last;
  };
  // Logins that got no reply pile up; when none of them is old, all are let go:
  // false alarms then, not a map without end.
  void make_room(Clock::time_point now) {
    std::erase_if(open_, [&](const auto& e) { return now - e.second.last > kWindow; });
    if (open_.size() >= kMaxPrincipals) open_.clear();
  }

  mutable std::mutex mutex_;
  std::map<PrincipalDigest, Opened> open_;
  std::uint64_t alarms_ = 0;
};

}  // namespace tkdc
