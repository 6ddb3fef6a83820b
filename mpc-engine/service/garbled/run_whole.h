// SPDX-License-Identifier: Apache-2.0
// An operation under a key's record by a garbled circuit, in the lane in which replicated sharing
// computes everything else: the record's fields and the input are its shares, and so is the
// result. docs/protocols/20-three-servers.md.
//
//   three ticks   m1, m2, m3
//   then          where the operation checks something, one octet is opened: whether it held
//
// The lane's admission has compared the job's input and the record's fields
// (threegarble/admitted.h).
// Nothing is answered before m3 is in. Where no instance stands ready, or nothing garbles this
// operation, all three servers fall back to sharing, and nothing has left. After m1 there is no
// way back: a deviation ends the lane.
//
// Called from a lane's tasks. Secret: input, result.
#pragma once

#include "service/garbled/garbled_lane.h"
#include "service/operation/outcome.h"
#include "service/operation/plain.h"

namespace tkdc {

// Which circuit serves an operation, whole or for its AES. Nothing: none does.
std::optional<std::string> circuit_of(const KeyRecord& record, tkdc_wire_op op, std::uint32_t usage,
                                      std::size_t input_bytes);

// By a circuit where an instance of it stands ready; else by sharing: run_operation(). A head or a
// tail always is. `tag`: the job, and its request's public octets.
Task<JobOutcome> run_garbled_or_shared(JobContext context, GarbledLane garbled, tkdc_wire_op op,
                                       threegarble::JobTag tag, SharedBytes input);

}  // namespace tkdc
