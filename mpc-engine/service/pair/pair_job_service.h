// SPDX-License-Identifier: Apache-2.0
// The job service of a realm on two servers: takes jobs from agents, runs them together with the
// other server by authenticated garbling, hands back replies
// (docs/protocols/27-two-server-jobs.md).
//
// Its sessions are pair sessions over the streams of a session's one lane: `to_next` and
// `from_next` lead to the other server, who is party 1 of party 0 and the other way round.
#pragma once

#include "service/job/job_service.h"

namespace tkdc {

// `options.party` is 0 or 1; `store` outlives it. Error: it cannot be made, with the reason.
Result<std::unique_ptr<JobService>> make_pair_job_service(const JobServiceOptions& options,
                                                          Store& store, JobService::Reply reply,
                                                          JobService::Audit audit);

}  // namespace tkdc
