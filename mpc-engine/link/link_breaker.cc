// SPDX-License-Identifier: Apache-2.0
#include "link/link_breaker.h"

#include <sys/eventfd.h>
#include <unistd.h>

namespace tkdc {

LinkBreaker::LinkBreaker() : event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

void LinkBreaker::trip(const std::string& reason) {
  {
    std::lock_guard lock(mutex_);
    if (tripped_.load(std::memory_order_relaxed)) return;
    reason_ = reason;
    tripped_.store(true, std::memory_order_release);
  }
  std::uint64_t one = 1;
  // Fails only when the counter is full, and then the event is set anyway.
  if (event_) [[maybe_unused]]
    ssize_t n = write(event_.get(), &one, sizeof one);
}

std::string LinkBreaker::reason() const {
  std::lock_guard lock(mutex_);
  return reason_;
}

}  // namespace tkdc
