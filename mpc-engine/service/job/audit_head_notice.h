// SPDX-License-Identifier: Apache-2.0
// On lane 0, every few minutes: each server tells both others where its audit
// log stands (service/job/lane_control.h). The leader starts a tick for it when the lane is idle.
// What is heard is written down after the servers have compared that all were told the same. Used
// by the lane's thread.
#pragma once

#include <array>
#include <chrono>
#include <optional>

#include "base/machine.h"
#include "service/job/options.h"

namespace tkdc {

class AuditHeadNotice {
 public:
  AuditHeadNotice(const JobServiceOptions& options, std::uint32_t lane)
      : options_(options), used_(lane == 0) {}

  bool due() const {
    return used_ && options_.audit_head && Clock::now() - said_ >= options_.audit_head_every;
  }

  // In each full tick.
  std::optional<AuditHead> say() {
    if (!due()) return std::nullopt;
    said_ = Clock::now();
    return options_.audit_head();
  }

  // After comparing. Of one party not more often than it is due: each is a line of our own log.
  void keep(int party, const std::optional<AuditHead>& head) {
    if (!used_ || !head || !options_.peer_audit_head) return;
    Clock::time_point& kept = kept_[static_cast<std::size_t>(party)];
    const auto now = Clock::now();
    if (kept != Clock::time_point() && now - kept < options_.audit_head_every / 2) return;
    kept = now;
    options_.peer_audit_head(party, *head);
  }

 private:
  using Clock = SteadyClock;

  const JobServiceOptions& options_;
  const bool used_;
  Clock::time_point said_ = Clock::now();  // the handshake did
  std::array<Clock::time_point, 3> kept_{};
};

}  // namespace tkdc
