// SPDX-License-Identifier: Apache-2.0
// Key management on shares: stage, export once, bind to a principal, destroy.
//
// A key comes to be in two steps, because a KDC's database makes a key before
// it says whose it is. STAGE draws it (the servers do; nobody sees it) or takes
// an imported one's shares. EXPORT gives a drawn, unbound key to the agent
// that asked for it, once, within 60 s: what a keytab needs. BIND derives all
// fields and stores the record: prepared by all three or by none, then
// committed. A key that was exported can never become krbtgt's or kadmin's.
// EQUAL (service/lifecycle/equal.h) compares an imported one with a bound key in between.
// DESTROY drops a key, where the session keeps such keys; PURGE ends a dropped one, GIVE_BACK has
// it in use again (docs/protocols/28-dropped-keys.md). Runs on lane 0 only, whose thread waits for
// the disk.
#pragma once

#include "service/lifecycle/context.h"
#include "service/operation/operations.h"
#include "service/wire/role.h"

namespace tkdc {

// Whether two administrators' approval that this server knows covers a dropped key.
using MayGiveBack = std::function<bool(const KeyRecord&)>;

// This server's own verdict on a management job, before admission.
tkdc_status check_management(StagedKeys& staged, Store& store, AgentRole role,
                             const JobRequest& request, const MayGiveBack& may_give_back = {});

// The keys that a management job works on, which no other such job may meanwhile.
std::vector<KeyId> keys_at_work(const JobRequest& request);

// What of it depends on the operation alone: EQUAL computes, the others move shares.
JobCost cost_of_management(tkdc_wire_op op);

Task<JobOutcome> run_management(ManagementContext context, const JobRequest& request,
                                SharedBytes input);

}  // namespace tkdc
