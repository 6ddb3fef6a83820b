// SPDX-License-Identifier: Apache-2.0
// A whole operation under a key's record by a garbled circuit, in the lane in which replicated
// sharing computes everything else: the record's fields and the input are its shares, and so is the
// result. docs/protocols/20-three-servers.md.
//
//   three ticks   m1, m2, m3
//   then          where the operation checks something, one octet is opened: whether it held
//
// The lane's admission has compared the job's input and the record's fields (threegarble/admit.h).
// Nothing is answered before m3 is in: run() returns after it. Where no instance stands ready, or
// nothing garbles this operation, all three servers fall back to sharing, and nothing has left.
// After m1 there is no way back: a deviation ends the lane.
//
// Called from a lane's tasks. Secret: input, result.
#pragma once

#include "service/garbled/whole.h"
#include "threegarble/binding.h"
#include "threegarble/side.h"

namespace tkdc {

struct GarbledLane {
  threegarble::LaneSide& side;
  const WholeKinds& kinds;
  // Octets of m1 of jobs that run: a tick's packet carries those of all that began together.
  std::size_t& at_work;
};
inline constexpr std::size_t kMostAtWork = std::size_t{4} << 20;

// Nothing: by sharing; `input` is as it was. A head or a tail always is. `tag`: the job, and its
// request's public octets.
Task<std::optional<JobOutcome>> run_whole(JobContext context, GarbledLane garbled, tkdc_wire_op op,
                                          threegarble::JobTag tag, const SharedBytes& input);

// The same, and by sharing where there is nothing else: run_operation().
Task<JobOutcome> run_garbled_or_shared(JobContext context, GarbledLane garbled, tkdc_wire_op op,
                                       threegarble::JobTag tag, SharedBytes input);

}  // namespace tkdc
