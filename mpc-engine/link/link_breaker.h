// SPDX-License-Identifier: Apache-2.0
// What ends the links of a session together, whatever they are made of. Any thread.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "base/unique_fd.h"

namespace tkdc {

// Ends links from outside their threads: every call on a link that holds it
// fails with the first reason given. Outlives the links.
class LinkBreaker {
 public:
  LinkBreaker();

  void trip(const std::string& reason);
  bool tripped() const { return tripped_.load(std::memory_order_acquire); }
  std::string reason() const;
  int fd() const { return event_.get(); }  // readable for good once tripped

 private:
  UniqueFd event_;
  std::atomic<bool> tripped_{false};
  mutable std::mutex mutex_;
  std::string reason_;
};

}  // namespace tkdc
