// SPDX-License-Identifier: Apache-2.0
// What a KDC asks for: plain operations under a key's record (plain.h), and those with a key that
// is derived for one of them (derived.h).
#pragma once

#include "service/operation/plain.h"

namespace tkdc {

// Whether the input's length is one that this operation takes. Standard
// operations are sequential, so an overlong message would keep a lane busy for
// seconds: each usage has a bound well above what Kerberos sends. An overlong
// ciphertext is a forgery (INTEGRITY), other lengths are BAD_REQUEST. So is a tail of
// an operation that leaves none.
tkdc_status check_lengths(const JobRequest& request, const KeyRecord& record);

Task<JobOutcome> run_operation(JobContext context, tkdc_wire_op op, SharedBytes input);

// As of a plain operation (plain.h), from its request.
JobCost cost_of(const Protocol& protocol, const KeyRecord& record, const JobRequest& request,
                std::size_t input_bytes, const Part& part = {});

}  // namespace tkdc
