// SPDX-License-Identifier: Apache-2.0
// What a server notices about its nonce epochs and tells its administrator: that its
// store went back, that epochs are used up too fast, that few are left. Nothing in it is
// secret.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "service/server/audit_log.h"
#include "service/store/store.h"
#include "session/epoch_ledger.h"

namespace tkdc {

// A store is older than its audit log when it came from a backup; the epochs that the log has
// seen are not used again. Called before any session.
Result<void> notice_restored_epochs(Store& store, AuditLog& audit);

// Empty while there is nothing to say.
struct EpochAlarms {
  std::string spent;  // more than a quarter of a day's allowance
  std::string left;   // fewer than an eighth of all
};
EpochAlarms epoch_alarms(const EpochReport& report);

// For `tkdc status`.
void tell_epochs(nlohmann::json& json, const EpochReport& report);

}  // namespace tkdc
