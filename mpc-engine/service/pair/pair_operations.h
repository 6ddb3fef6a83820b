// SPDX-License-Identifier: Apache-2.0
// SEAL, OPEN, MAC and VERIFY by two servers that have both admitted the job, also with a key that
// is derived for it (pair_derived.h): the record's bits, an agent's deal, a circuit that was
// prepared. What comes of it is the same at both: z = y ⊕ pad. Used by the lane's thread.
#pragma once

#include "service/operation/outcome.h"
#include "service/pair/pair_checks.h"
#include "service/pair/pair_compute.h"

namespace tkdc {

// `held`: what both servers have of the record in this session.
JobOutcome run_pair_operation(const PairAtWork& at_work, PairJob& of, PairHeld held);

// A job that ended well proves its kind, and that of what it has sealed or signed.
void note_proved(const PairAtWork& at_work, const PairJob& of);

// What every client's first login has, of lengths that nobody chooses: timestamps and challenges.
void prove_what_all_send(PairProved& proved);

// Octets of bits that are an agent's.
SharedBytes answer_of(const pair::Bits& bits);

// To an agent that has dealt for another session.
JobReply deal_again(const JobRequest& request, const pair::Label& session);

// Where an error has ended no session, it is this job's.
JobOutcome unavailable(const Error& why);

}  // namespace tkdc
