// SPDX-License-Identifier: Apache-2.0
#include "service/job/share_upkeep.h"

#include <algorithm>

namespace tkdc {

void ShareUpkeep::want(ShareTask task, std::uint32_t refresh_epoch) {
  std::lock_guard lock(mutex_);
  if (status_.running) return;
  status_.task = task;
  status_.wanted = true;
  // With keys that nobody had when an old disk or memory was taken.
  in_a_new_session_ = task == ShareTask::kRefresh;
  wanted_at_ = refresh_epoch;
}

std::optional<ShareTask> ShareUpkeep::wanted() const {
  std::lock_guard lock(mutex_);
  const bool now = status_.wanted && !status_.running && !in_a_new_session_;
  return now ? status_.task : std::nullopt;
}

ShareUpkeepStatus ShareUpkeep::status() const {
  std::lock_guard lock(mutex_);
  ShareUpkeepStatus now = status_;
  if (now.running) now.seconds = std::chrono::duration<double>(Clock::now() - since_).count();
  return now;
}

// A session that ends takes its work with it. A refresh whose last vote was lost with it has been
// done all the same, where the stores are of the next epoch.
void ShareUpkeep::session(bool possible, std::uint32_t refresh_epoch) {
  std::lock_guard lock(mutex_);
  status_.possible = possible;
  status_.running = false;
  refreshing_ = false;
  in_a_new_session_ = in_a_new_session_ && !possible;
  if (!status_.wanted || status_.task != ShareTask::kRefresh || refresh_epoch <= wanted_at_) return;
  status_.wanted = in_a_new_session_ = false;
  status_.trouble.clear();
  status_.ended_at_s = static_cast<std::int64_t>(wall_s());
  ++status_.finished;
}

// What this server was asked for too is under way with it; of another's wish it knows from here.
void ShareUpkeep::begun(ShareTask task, std::uint64_t keys) {
  std::lock_guard lock(mutex_);
  const bool wanted = status_.wanted && status_.task == task;
  const std::uint64_t finished = status_.finished;
  const std::optional<ShareTask> later = status_.wanted && !wanted ? status_.task : std::nullopt;
  status_ = {};
  status_.possible = status_.running = true;
  status_.task = later ? later : task;
  status_.wanted = wanted || later.has_value();
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

void ShareUpkeep::ended(const std::string& trouble) {
  std::lock_guard lock(mutex_);
  // One that was committed goes on being so until the session ends.
  if (!trouble.empty()) refreshing_ = false;
  status_.running = status_.wanted = false;
  status_.trouble = trouble;
  status_.seconds = std::chrono::duration<double>(Clock::now() - since_).count();
  status_.ended_at_s = static_cast<std::int64_t>(wall_s());
  ++status_.finished;
}

}  // namespace tkdc
