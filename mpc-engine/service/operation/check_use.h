// SPDX-License-Identifier: Apache-2.0
// One server's own verdict on an operation with a stored key: is there such a
// key, may this role do that with it, and has the input a length that this
// operation takes. Nothing but this server's store and what the agent sent it goes
// in, so no other server can make it milder; admission takes the worst verdict of
// the three. Clocks and counts are the lane's to look at (lane_runner.cc).
#pragma once

#include <memory>

#include "service/store/store.h"
#include "service/wire/message.h"
#include "service/wire/role.h"

namespace tkdc {

// SEAL to MAC_DERIVED. `record`: the key's, set when there is one.
tkdc_status check_use(Store& store, const InstallationId& installation, AgentRole role,
                      const JobRequest& request, std::shared_ptr<const KeyRecord>& record);

}  // namespace tkdc
