// SPDX-License-Identifier: Apache-2.0
// The leader's jobs that wait to be named in a manifest, and the link that is woken for them.
// Thread-safe.
#pragma once

#include <mutex>

#include "link/link.h"
#include "service/job/fair_queue.h"

namespace tkdc {

class LaneQueue {
 public:
  using Clock = FairQueue::Clock;

  void put(const JobName& name) {
    std::lock_guard lock(mutex_);
    queue_.put(name);
    if (link_ != nullptr) link_->wake();
  }
  // Not before `due`. By the lane's own thread.
  void put_back(const JobName& name, Clock::time_point due) {
    std::lock_guard lock(mutex_);
    queue_.put(name, due);
  }
  template <class RoomOf, class Octets>
  std::vector<JobName> take(const FairQueue::Room& most, RoomOf room_of, Octets octets) {
    std::lock_guard lock(mutex_);
    return queue_.take(Clock::now(), most, room_of, octets);
  }

  bool has_waiting() {
    std::lock_guard lock(mutex_);
    const auto due = queue_.next_due();
    return due && *due <= Clock::now();
  }
  // Until the next job is due to be named again; at most so long.
  std::chrono::milliseconds until_due(std::chrono::milliseconds most) {
    using std::chrono::milliseconds;
    std::lock_guard lock(mutex_);
    const auto latest = Clock::now() + most;
    const auto next = queue_.next_due().value_or(latest);  // of the least time: now
    if (next <= Clock::now()) return milliseconds(1);
    return std::max(std::chrono::ceil<milliseconds>(std::min(latest, next) - Clock::now()),
                    milliseconds(1));
  }

  // Which link to wake; none while the lane does not run.
  void use(Link* link) {
    std::lock_guard lock(mutex_);
    link_ = link;
  }
  void wake() {
    std::lock_guard lock(mutex_);
    if (link_ != nullptr) link_->wake();
  }

 private:
  std::mutex mutex_;
  FairQueue queue_;
  Link* link_ = nullptr;
};

}  // namespace tkdc
