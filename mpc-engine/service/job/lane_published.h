// SPDX-License-Identifier: Apache-2.0
// What a lane adds to its server's counters: how far its protocols' and its reserve's own counts
// have come since it was asked before. Used by the lane's thread.
#pragma once

#include "service/garbled/lane_garbling.h"
#include "service/job/lane_shared.h"

namespace tkdc {

class LanePublished {
 public:
  explicit LanePublished(LaneCounters& counters) : counters_(counters) {}
  // What stands ready in the lane goes with it.
  ~LanePublished();
  LanePublished(const LanePublished&) = delete;
  LanePublished& operator=(const LanePublished&) = delete;

  // `cohorts`: so far.
  void protocols(const SessionProtocols& protocols, std::uint64_t cohorts);
  void garbling(const LaneGarbling::Counts& now);

 private:
  LaneCounters& counters_;
  ProtocolCounts protocols_;
  std::uint64_t cohorts_ = 0;
  LaneGarbling::Counts garbling_;
};

}  // namespace tkdc
