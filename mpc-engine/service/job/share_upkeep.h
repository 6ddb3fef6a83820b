// SPDX-License-Identifier: Apache-2.0
// Work on all records of the store while service goes on: their MACs are audited, or dealt to those
// that have none (docs/protocols/23-share-macs.md). On lane 0, page by page, beside its jobs; any
// of the three servers' administrators begins it, and all three take part.
//
// Here: what a server remembers of it over its sessions, and tells; the work is share_work.h. Any
// thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "base/machine.h"

namespace tkdc {

// A repair is the only one of its session, and of no other.
enum class ShareTask : std::uint8_t { kAudit = 1, kDeal = 2, kRefresh = 3, kRepair = 4 };
constexpr bool is_share_task(std::uint8_t task, bool repair) {
  return repair ? task == 4 : task >= 1 && task <= 3;
}

// What a server's administrator sees of it.
struct ShareUpkeepStatus {
  bool possible = false;          // in this session
  std::optional<int> repaired;    // which server's repair this session is for
  std::optional<ShareTask> task;  // the one at work or wanted, else the last one
  bool running = false;
  bool wanted = false;     // by this server's administrator, and not ended yet
  std::uint64_t keys = 0;  // of the store, when it began
  std::uint64_t looked_at = 0, dealt = 0, audited = 0, failed = 0;
  std::uint64_t without = 0, stale = 0;  // MACs; of those `stale`: here are some, of no use
  std::string trouble;                   // why it ended before its time
  std::uint64_t finished = 0;  // how many have come to their end since this server's start
  double seconds = 0;
  std::int64_t ended_at_s = 0;  // Unix time
};

// Of a server, over its sessions.
class ShareUpkeep {
 public:
  // Begins when the three can; over sessions, until it has ended.
  void want(ShareTask task, std::uint32_t refresh_epoch);
  std::optional<ShareTask> wanted() const;
  // Keys are neither made nor removed: what is refreshed has them all.
  bool refreshing() const { return refreshing_; }
  // A session for a repair runs no job, and no other work.
  bool repairing() const { return repairing_; }
  ShareUpkeepStatus status() const;

  // ---- of the lane
  // Of which refresh the stores are; whose repair it is for.
  void session(bool possible, std::uint32_t refresh_epoch,
               std::optional<int> repaired = std::nullopt);
  // In the tick in which all three hear of it.
  void heard(ShareTask task) {
    if (task == ShareTask::kRefresh) refreshing_ = true;
  }
  void begun(ShareTask task, std::uint64_t keys);
  void page(const ShareUpkeepStatus& more);
  void ended(const std::string& trouble, bool session_ends = false);

 private:
  using Clock = SteadyClock;
  void fulfil();

  std::atomic<bool> refreshing_{false}, repairing_{false};
  bool repair_over_ = false;  // in this session
  mutable std::mutex mutex_;
  ShareUpkeepStatus status_;       // of the work at hand, or the last one, whoever wanted it
  std::optional<ShareTask> wish_;  // this server's own
  bool in_a_new_session_ = false;  // it waits for one
  bool session_ends_ = false;      // after a refresh, whatever else is wanted meanwhile
  std::uint32_t wanted_at_ = 0;    // the refresh epoch then
  Clock::time_point since_;
};

}  // namespace tkdc
