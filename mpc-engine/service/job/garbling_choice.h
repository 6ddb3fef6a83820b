// SPDX-License-Identifier: Apache-2.0
// The leader's choice for each job that it names: by sharing, or by a garbled circuit
// (docs/adr/0047-the-leader-chooses.md). Used by the leader's lane threads; an instance for each.
#pragma once

#include "service/garbled/lane_garbling.h"
#include "service/job/lane_load.h"
#include "service/job/lane_shared.h"

namespace tkdc {

class GarblingChoice {
 public:
  // `one_way`: to the farther of the two others; `load`: the lane's.
  GarblingChoice(const LaneShared& shared, const RunningJobs& running, const LaneGarbling& garbling,
                 const std::chrono::microseconds& one_way, const LaneLoad& load)
      : shared_(shared), running_(running), garbling_(garbling), one_way_(one_way), load_(load) {}

  // Of a job that waits to be named.
  Garbled choose(const JobName& name);
  // It has its instance now, or will have none: it was not admitted, say.
  void settle(const JobName& name, bool has) { quotas_.settle(name, has); }

 private:
  Garbled now() const;

  const LaneShared shared_;
  const RunningJobs& running_;
  const LaneGarbling& garbling_;
  const std::chrono::microseconds& one_way_;
  const LaneLoad& load_;
  InstanceQuotas quotas_;
};

}  // namespace tkdc
