// SPDX-License-Identifier: Apache-2.0
// SEAL and OPEN with a stored key, AES by lookup tables and the rest by a circuit
// (docs/protocols/29-tables-in-jobs.md). Both servers have said, and found alike, that the job goes
// so and what is there for it: nothing here decides anything.
//
//   circuit   out of the reserve, or made, before anything of the job leaves
//   entry     what the agent dealt, proved; here a job may be dropped by both
//   keys      round keys of the record's field, unless they are there
//   AES       by tables, and out under fresh bits, behind a check
//   circuit   MAC, comparison, gate, pad
//
// Used by the lane's thread. Secret: all but lengths. Error, and the session stands: both have
// dropped the job, since what the agent dealt does not fit.
#pragma once

#include "service/pair/pair_checks.h"
#include "service/pair/pair_compute.h"

namespace tkdc {

Result<PairOutput> compute_by_tables(const PairAtWork& at_work, PairJob& of);

}  // namespace tkdc
