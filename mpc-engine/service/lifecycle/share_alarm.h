// SPDX-License-Identifier: Apache-2.0
// What audits of shares have found: it stays until the server is restarted, in status and log.
// Nothing mends it by itself. Any thread.
//
// A finding names the record, the server that found it, and the two whose statements differ: the
// one that was to prove its component, and the one that dealt its MAC. Which of them is wrong (or
// whether the finder lies) nobody can tell from it. Nothing here is secret.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "mac/mac_check.h"
#include "service/store/record.h"

namespace tkdc {

class ShareAlarm {
 public:
  static constexpr std::size_t kMostNamed = 64;  // the count goes on

  // `tell`: the journal and the audit log; by the thread that finds it.
  explicit ShareAlarm(std::function<void(const std::string& text, const KeyRecord*)> tell)
      : tell_(std::move(tell)) {}

  // Returns what it says.
  std::string raise(const KeyRecord& record, const MacFindings& findings);
  void raise(const std::string& text, const KeyRecord* record);

  std::uint64_t count() const {
    std::lock_guard lock(mutex_);
    return count_;
  }
  std::vector<std::string> named() const {
    std::lock_guard lock(mutex_);
    return named_;
  }

 private:
  const std::function<void(const std::string&, const KeyRecord*)> tell_;
  mutable std::mutex mutex_;
  std::uint64_t count_ = 0;
  std::vector<std::string> named_;
};

}  // namespace tkdc
