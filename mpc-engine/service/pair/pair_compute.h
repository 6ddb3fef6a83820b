// SPDX-License-Identifier: Apache-2.0
// A circuit of a job: prepared, or out of the reserve, and used. Used by the lane's thread. Secret:
// inputs; outputs are what both servers may know.
#pragma once

#include "pair/inputs.h"
#include "service/pair/pair_session.h"

namespace tkdc {

// What a circuit gives both servers.
struct PairOutput {
  pair::Bits bare;  // what both may know
  pair::Bits rest;  // y ⊕ pad
};
// Prepares where nothing is ready. Error, and the session stands: both have dropped the job, since
// what the agent dealt does not fit.
Result<PairOutput> compute_pair(const PairAtWork& at_work, const PairKindPtr& kind,
                                pair::Inputs& inputs);

// The same with what has been taken of the reserve before.
Result<PairOutput> compute_prepared(const PairAtWork& at_work, const PairKind& kind,
                                    pair::Prepared& prepared, pair::Inputs& inputs);

}  // namespace tkdc
