// SPDX-License-Identifier: Apache-2.0
// Work on shares in a session's lane 0: what one of the three servers' administrators asks for,
// heard by all three in one tick, and the run that it leads to (service/job/share_work.h). Other
// lanes, and sessions without MACs, have none. Used by the lane's thread.
#pragma once

#include <memory>
#include <optional>

#include "service/job/job_checks.h"
#include "service/job/lane_control.h"
#include "service/job/lane_shared.h"
#include "service/job/share_work.h"

namespace tkdc {

class LaneShares {
 public:
  // `checks`: whether jobs that make or remove keys are at work.
  LaneShares(Lane& lane, const LaneShared& shared, const JobChecks& checks)
      : lane_(lane), shared_(shared), checks_(checks) {}

  // `keys`: lane 0's.
  void join(const Session& session, const PairwiseKeys& keys);

  // Null in a lane that has none of this work.
  ShareMacs* macs() const { return macs_.get(); }
  bool at_work() const { return work_ != nullptr; }
  bool wanted() const { return macs_ && !work_ && shared_.upkeep.wanted(); }

  // In each full tick.
  std::optional<ShareTask> say();
  // In the same tick, what the others said.
  void hear(std::optional<ShareTask> prev, std::optional<ShareTask> next);

 private:
  Task<void> run(ShareTask task);

  Lane& lane_;
  const LaneShared shared_;
  const JobChecks& checks_;
  std::unique_ptr<ShareMacs> macs_;
  std::optional<int> repaired_;  // the session is for this server's repair
  std::unique_ptr<ShareWork> work_;
  std::optional<ShareTask> said_;
  bool repair_begun_ = false;
};

}  // namespace tkdc
