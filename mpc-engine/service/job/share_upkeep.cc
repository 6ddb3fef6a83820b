// SPDX-License-Identifier: Apache-2.0
#include "service/job/share_upkeep.h"

#include <algorithm>

namespace tkdc {

void ShareUpkeep::want(ShareTask task, std::uint32_t refresh_epoch) {
  std::lock_guard lock(mutex_);
  wish_ = task;
  // With keys that nobody had when an old disk or memory was taken.
  in_a_new_session_ = task == ShareTask::kRefresh;
  wanted_at_ = refresh_epoch;
}

std::optional<ShareTask> ShareUpkeep::wanted() const {
  std::lock_guard lock(mutex_);
  if (repairing_) {
    const bool begins = status_.possible && !status_.running && !repair_over_;
    return begins ? std::optional(ShareTask::kRepair) : std::nullopt;
  }
  return status_.running || in_a_new_session_ ? std::nullopt : wish_;
}

ShareUpkeepStatus ShareUpkeep::status() const {
  std::lock_guard lock(mutex_);
  ShareUpkeepStatus now = status_;
  now.wanted = wish_.has_value();
  if (now.running)
    now.seconds = std::chrono::duration<double>(Clock::now() - since_).count();
  else if (wish_)
    now.task = wish_;
  return now;
}

void ShareUpkeep::fulfil() {
  wish_.reset();
  in_a_new_session_ = false;
}

// A session that ends takes its work with it. A refresh whose last vote was lost with it has been
// done all the same, where the stores are of the next epoch.
void ShareUpkeep::session(bool possible, std::uint32_t refresh_epoch, std::optional<int> repaired) {
  std::lock_guard lock(mutex_);
  status_.possible = possible;
  status_.repaired = repaired;
  repairing_ = repaired.has_value();
  repair_over_ = false;
  status_.running = false;
  refreshing_ = session_ends_ = false;
  in_a_new_session_ = in_a_new_session_ && !possible;
  if (wish_ != ShareTask::kRefresh || refresh_epoch <= wanted_at_) return;
  fulfil();
  status_.task = ShareTask::kRefresh;
  status_.trouble.clear();
  status_.ended_at_s = static_cast<std::int64_t>(wall_s());
  ++status_.finished;
}

void ShareUpkeep::begun(ShareTask task, std::uint64_t keys) {
  std::lock_guard lock(mutex_);
  const std::uint64_t finished = status_.finished;
  const std::optional<int> repaired = status_.repaired;
  status_ = {};
  status_.repaired = repaired;
  status_.possible = status_.running = true;
  status_.task = task;
  status_.keys = keys;
  status_.finished = finished;
  since_ = Clock::now();
}

void ShareUpkeep::page(const ShareUpkeepStatus& more) {
  std::lock_guard lock(mutex_);
  status_.looked_at += more.looked_at;
  status_.dealt += more.dealt;
  status_.audited += more.audited;
  status_.without += more.without;
  status_.stale += more.stale;
  status_.failed += more.failed;
}

void ShareUpkeep::ended(const std::string& trouble, bool session_ends) {
  std::lock_guard lock(mutex_);
  status_.running = false;
  // One that may have been committed goes on being so until the session ends.
  session_ends_ = session_ends_ || session_ends;
  if (!session_ends_) refreshing_ = false;
  // Another's wish may have come first; this server's own is then still to be done.
  if (wish_ == status_.task) fulfil();
  if (status_.task == ShareTask::kRepair) repair_over_ = true;
  status_.trouble = trouble;
  status_.seconds = std::chrono::duration<double>(Clock::now() - since_).count();
  status_.ended_at_s = static_cast<std::int64_t>(wall_s());
  ++status_.finished;
}

}  // namespace tkdc
