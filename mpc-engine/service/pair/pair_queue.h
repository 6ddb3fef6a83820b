// SPDX-License-Identifier: Apache-2.0
// Where the lane of two servers waits: at the leader for jobs that are due to be named, at the
// other one for the leader's next octets, and for the end. Thread-safe.
#pragma once

#include <condition_variable>
#include <mutex>

#include "service/job/fair_queue.h"

namespace tkdc {

class PairQueue {
 public:
  using Clock = FairQueue::Clock;

  void put(const JobName& name) {
    const std::lock_guard lock(mutex_);
    queue_.put(name);
    changed_.notify_all();
  }
  void put_back(const JobName& name, Clock::time_point due) {
    const std::lock_guard lock(mutex_);
    queue_.put(name, due);
  }
  // The next one that is due; those of which `octets_of` knows none any more are dropped.
  template <class OctetsOf>
  std::optional<JobName> take(const OctetsOf& octets_of) {
    const std::lock_guard lock(mutex_);
    const auto one = queue_.take(
        Clock::now(), {1, ~std::size_t{0}}, [](std::uint64_t) { return std::size_t{1}; },
        octets_of);
    return one.empty() ? std::nullopt : std::optional(one.front());
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
  bool woken_ = false, stopped_ = false;
};

}  // namespace tkdc
