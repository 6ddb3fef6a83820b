// SPDX-License-Identifier: Apache-2.0
// What one party of a lane says to both others in a full tick: the leader which jobs it names,
// each its verdicts on those named before, its revoked windows after a change, and on lane 0 now
// and then where its audit log stands and what its clock says. The ticker notes it in the lane's
// course (lane/ticker.h).
//
//   u8 which parts follow: 1 manifest, 2 verdicts, 4 revoked windows, 8 audit head, 16 clock,
//      32 work on shares
//   manifest (service/admit/admission.h) | a verdict for each job | version u64, state |
//   audit head (service/job/audit_head.h) | Unix ms u64 | which work u8 (share_upkeep.h)
//
// A party that has nothing to say sends no octet. Nothing here is secret.
#pragma once

#include <optional>
#include <vector>

#include "service/admit/admission.h"
#include "service/job/audit_head.h"
#include "service/job/share_upkeep.h"
#include "service/sealing/revocations.h"

namespace tkdc {

struct LaneControl {
  std::optional<Manifest> manifest;  // one that names jobs
  std::vector<Verdict> verdicts;
  std::optional<Revocations::Word> revoked;
  std::optional<AuditHead> audit_head;
  std::optional<std::uint64_t> clock_ms;
  std::optional<ShareTask> share_task;  // what this server's administrator asks for
};

Bytes encode(const LaneControl& said);

struct LaneExpects {
  bool leader = false;       // only the leader names jobs
  std::size_t verdicts = 0;  // exactly so many
  std::size_t most_jobs = 0;
  std::size_t protocols = 1;  // of the session
  bool shares = false;        // the session has MACs, and this lane their work
  bool repair = false;        // which is a repair and nothing else
};
Result<LaneControl> decode_lane_control(ByteSpan octets, const LaneExpects& expected);

}  // namespace tkdc
