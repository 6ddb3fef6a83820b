// SPDX-License-Identifier: Apache-2.0
#include "service/lifecycle/equal.h"

#include <algorithm>

#include "cipher/ghash/gf128.h"
#include "service/admit/policy.h"

namespace tkdc {
namespace {

constexpr const char* kEqual = "equal";
constexpr const char* kUnequal = "not equal";

// The same in both forms of a key (service/operation/keys.h).
constexpr const char* kKeyField = "key";

// Out of line: g++ 12 loses temporaries that are made inside a coroutine.
JobOutcome answer(const Protocol& protocol, bool same) {
  const std::uint8_t octet = same ? 1 : 0;
  JobOutcome outcome(protocol.share_public(ByteSpan(&octet, 1)));
  outcome.note = same ? kEqual : kUnequal;
  return outcome;
}

}  // namespace

std::optional<KeyId> compared_key(const JobRequest& request) {
  KeyId id;
  if (request.public_data.size() != id.size()) return std::nullopt;
  std::ranges::copy(request.public_data, id.begin());
  return id;
}

tkdc_status check_equal(StagedKeys& staged, Store& store, const JobRequest& request) {
  const auto other = compared_key(request);
  if (!other) return TKDC_STATUS_BAD_REQUEST;
  auto record = store.get(request.key.id);
  if (!record) return TKDC_STATUS_INTERNAL;
  if (*record == nullptr || (*record)->ref != request.key) return TKDC_STATUS_UNKNOWN_KEY;
  if (!may_compare((*record)->key_class)) return TKDC_STATUS_DENIED;
  const StagedKey* key = staged.find(*other);
  if (key == nullptr || key->agent != request.name.agent) return TKDC_STATUS_UNKNOWN_KEY;
  if (key->origin != TKDC_ORIGIN_IMPORTED) return TKDC_STATUS_DENIED;
  if (key->compared_with && *key->compared_with != request.key.principal) return TKDC_STATUS_DENIED;
  const auto field = (*record)->fields.find(kKeyField);
  if (field == (*record)->fields.end()) return TKDC_STATUS_INTERNAL;
  const bool alike = key->enctype == request.key.enctype && field->second.size() == key->key.size();
  return alike ? TKDC_STATUS_OK : TKDC_STATUS_BAD_REQUEST;
}

Task<JobOutcome> run_equal(ManagementContext context, const JobRequest& request) {
  // Held for this job since it was checked.
  StagedKey* staged = context.staged.find(*compared_key(request));
  staged->compared_with = request.key.principal;
  SharedBytes difference = context.record->fields.at(kKeyField);
  xor_into(difference, staged->key);
  bool same = co_await is_zero(context.protocol, std::move(difference));
  co_return answer(context.protocol, same);
}

JobCost cost_of_equal() {
  JobCost cost;
  cost.message_bytes = 16;
  return cost;
}

}  // namespace tkdc
