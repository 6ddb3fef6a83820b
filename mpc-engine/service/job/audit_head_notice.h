// SPDX-License-Identifier: Apache-2.0
// On lane 0, every few minutes: each server tells both others where its audit
// log stands (service/job/lane_control.h). The leader starts a tick for it when the lane is idle.
// What is heard is written down after the servers have compared that all were told the same: a
// server that tells its neighbours different heads tells one of them of a log that it will not be
// held to. Used by the lane's thread.
#pragma once

#include <array>
#include <chrono>
#include <optional>

#include "base/machine.h"
#include "lane/lane.h"
#include "service/job/options.h"

namespace tkdc {

class AuditHeadNotice {
 public:
  AuditHeadNotice(Lane& lane, const JobServiceOptions& options, std::uint32_t lane_number)
      : lane_(lane), options_(options), used_(lane_number == 0) {}

  bool due() const {
    return used_ && options_.audit_head && Clock::now() - last_ >= options_.audit_head_every;
  }
  // Heads that are being compared.
  bool at_work() const { return comparing_ > 0; }

  // In each full tick.
  std::optional<AuditHead> say() {
    said_ = due();
    if (!said_) return std::nullopt;
    last_ = Clock::now();
    return options_.audit_head();
  }
  // In the same tick, what the others said. By any of the three: all of them compare then.
  void hear(std::optional<AuditHead> prev, std::optional<AuditHead> next) {
    if (!said_ && !prev && !next) return;
    ++comparing_;
    lane_.spawn(compare(prev, next));
  }

 private:
  using Clock = SteadyClock;

  Task<void> compare(std::optional<AuditHead> prev, std::optional<AuditHead> next) {
    co_await lane_.agreed();
    keep((lane_.party() + 2) % 3, prev);
    keep((lane_.party() + 1) % 3, next);
    --comparing_;
  }

  // Of one party not more often than it is due: each is a line of our own log.
  void keep(int party, const std::optional<AuditHead>& head) {
    if (!used_ || !head || !options_.peer_audit_head) return;
    Clock::time_point& kept = kept_[static_cast<std::size_t>(party)];
    const auto now = Clock::now();
    if (kept != Clock::time_point() && now - kept < options_.audit_head_every / 2) return;
    kept = now;
    options_.peer_audit_head(party, *head);
  }

  Lane& lane_;
  const JobServiceOptions& options_;
  const bool used_;
  Clock::time_point last_ = Clock::now();  // the handshake did
  bool said_ = false;                      // in this tick
  int comparing_ = 0;
  std::array<Clock::time_point, 3> kept_{};
};

}  // namespace tkdc
