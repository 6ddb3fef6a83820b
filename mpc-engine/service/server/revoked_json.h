// SPDX-License-Identifier: Apache-2.0
// Revoked windows in the status document and in the audit log.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "service/job/job_service.h"
#include "service/server/revoke_request.h"

namespace tkdc {

// [{"from", "until"}], UTC; `until` is the first moment that is not revoked.
nlohmann::json revoked_json(const RevocationState& state);

// The parties whose agreement a lift still needs; nothing where none was asked for.
std::optional<nlohmann::json> lift_waits_for(const JobServiceStatus& status, int party);

std::string revoke_event(const RevokeRequest& request);

}  // namespace tkdc
