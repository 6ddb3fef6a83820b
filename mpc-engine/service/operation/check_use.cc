// SPDX-License-Identifier: Apache-2.0
#include "service/operation/check_use.h"

#include "service/admit/policy.h"
#include "service/operation/operations.h"

namespace tkdc {

tkdc_status check_use(Store& store, const InstallationId& installation, AgentRole role,
                      const JobRequest& request, std::shared_ptr<const KeyRecord>& record) {
  if (request.op < TKDC_OP_SEAL || request.op > TKDC_OP_MAC_DERIVED) return TKDC_STATUS_BAD_REQUEST;
  if (request.key.installation != installation) return TKDC_STATUS_UNKNOWN_KEY;
  auto found = store.get(request.key.id);
  if (!found) return TKDC_STATUS_INTERNAL;
  if (*found == nullptr || (*found)->ref != request.key) return TKDC_STATUS_UNKNOWN_KEY;
  record = *found;
  if (!may_use(record->key_class, role, request.op, request.usage)) return TKDC_STATUS_DENIED;
  // Epochs were begun anew since it was drawn: its nonces would repeat.
  if (record->open_only && request.op == TKDC_OP_SEAL && in_gcm_form(*record, request.usage))
    return TKDC_STATUS_DENIED;
  return check_lengths(request, *record);
}

}  // namespace tkdc
