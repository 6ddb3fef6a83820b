// SPDX-License-Identifier: Apache-2.0
// EQUAL: whether a staged key is the same as a bound one of its enctype. What a password history
// needs, and nothing more: one bit about two keys of one principal (docs/protocols/15).
//
// Protocol: d = a + b locally; e = sum of d_k r_k in GF(2^128) over d's two halves with random
// shared r_k, one layer; verified in malicious mode; e is opened. d = 0 gives 0, anything else a
// uniform value, which is 0 with a chance of 2^-128. The servers and the agent learn that bit;
// nobody learns more. 16 octets a server and two rounds, and the verification's.
//
// Who may: an admin agent, with a key that it has imported itself, and within one principal.
// The first comparison makes the staged key that principal's: it is then compared with no other's
// keys and bound to nobody else.
#pragma once

#include <optional>

#include "service/lifecycle/context.h"
#include "service/operation/outcome.h"

namespace tkdc {

// The staged key that the request names; nothing if it is malformed.
std::optional<KeyId> compared_key(const JobRequest& request);

// This server's own verdict, but for the role and how often (service/admit/equal_limit.h).
tkdc_status check_equal(StagedKeys& staged, Store& store, const JobRequest& request);

// One public octet: 1 equal, 0 not.
Task<JobOutcome> run_equal(ManagementContext context, const JobRequest& request);

JobCost cost_of_equal();

}  // namespace tkdc
