// SPDX-License-Identifier: Apache-2.0
#include "service/job/share_upkeep.h"

#include <algorithm>

namespace tkdc {

void ShareUpkeep::want(ShareTask task) {
  std::lock_guard lock(mutex_);
  if (status_.running) return;
  status_.task = task;
  status_.wanted = true;
}

std::optional<ShareTask> ShareUpkeep::wanted() const {
  std::lock_guard lock(mutex_);
  return status_.wanted && !status_.running ? status_.task : std::nullopt;
}

ShareUpkeepStatus ShareUpkeep::status() const {
  std::lock_guard lock(mutex_);
  ShareUpkeepStatus now = status_;
  if (now.running) now.seconds = std::chrono::duration<double>(Clock::now() - since_).count();
  return now;
}

// A session that ends takes its work with it.
void ShareUpkeep::session(bool possible) {
  std::lock_guard lock(mutex_);
  status_.possible = possible;
  status_.running = false;
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
  status_.running = status_.wanted = false;
  status_.trouble = trouble;
  status_.seconds = std::chrono::duration<double>(Clock::now() - since_).count();
  status_.ended_at_s = static_cast<std::int64_t>(wall_s());
  ++status_.finished;
}

}  // namespace tkdc
