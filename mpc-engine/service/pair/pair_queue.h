// SPDX-License-Identifier: Apache-2.0
// Where the lane of two servers waits: at the leader for jobs that are due to be named, at the
// other one for the leader's next octets, and for the end. Thread-safe.
#pragma once

#include <condition_variable>
#include <mutex>
#include <set>

#include "service/job/fair_queue.h"

namespace tkdc {

class PairQueue {
 public:
  using Clock = FairQueue::Clock;

  // Once, however often it is put.
  void put(const JobName& name) {
    const std::lock_guard lock(mutex_);
    if (!names_.insert(name).second) return;
    queue_.put(name);
    changed_.notify_all();
  }
  void put_back(const JobName& name, Clock::time_point due) {
    const std::lock_guard lock(mutex_);
    if (names_.insert(name).second) queue_.put(name, due);
  }
  // No session is there to name them.
  void clear() {
    const std::lock_guard lock(mutex_);
    names_.clear();
    queue_ = FairQueue();
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return names_.size();
  }
  // The next one that is due; those of which `octets_of` knows none any more are dropped.
  template <class OctetsOf>
  std::optional<JobName> take(const OctetsOf& octets_of) {
    const std::lock_guard lock(mutex_);
    const auto known = [&](const JobName& name) {
      const std::optional<std::size_t> octets = octets_of(name);
      if (!octets) names_.erase(name);
      return octets;
    };
    const auto one = queue_.take(
        Clock::now(), {1, ~std::size_t{0}}, [](std::uint64_t) { return std::size_t{1}; }, known);
    if (one.empty()) return std::nullopt;
    names_.erase(one.front());
    return one.front();
  }
  bool has_due() {
    const std::lock_guard lock(mutex_);
    return is_due();
  }
  // Until a job is due, somebody wakes it or it is stopped; at most so long.
  void wait(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    if (const auto next = queue_.next_due(); next && *next > Clock::now())
      most = std::min(most, std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now()));
    machine().wait(changed_, lock, most, [&] { return stopped_ || woken_ || is_due(); });
    woken_ = false;
  }
  void wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_all();
  }
  // The session is to end, and another one to begin.
  void begin_anew() {
    const std::lock_guard lock(mutex_);
    anew_ = woken_ = true;
    changed_.notify_all();
  }
  bool anew() {
    const std::lock_guard lock(mutex_);
    return anew_;
  }
  void begun() {
    const std::lock_guard lock(mutex_);
    anew_ = false;
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  bool stopped() {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

 private:
  bool is_due() const {
    const auto next = queue_.next_due();
    return next && *next <= Clock::now();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  FairQueue queue_;
  std::set<JobName> names_;  // that it has
  bool woken_ = false, stopped_ = false, anew_ = false;
};

}  // namespace tkdc
