// SPDX-License-Identifier: Apache-2.0
#include "service/job/job_checks.h"

#include <algorithm>

#include "service/lifecycle/management.h"
#include "service/operation/check_use.h"
#include "service/operation/operations.h"

namespace tkdc {

// While another job works on the same key this one counts as missing: it is put
// back and checked again when that one is done.
Verdict JobChecks::check_key_management(Job& job) {
  const JobRequest& request = job.request;
  if (request.key.installation != shared_.options.installation) return TKDC_STATUS_UNKNOWN_KEY;
  if (lane_index_ != 0) return TKDC_STATUS_BAD_REQUEST;
  const std::vector<KeyId> keys = keys_at_work(request);
  if (std::ranges::any_of(keys, [&](const KeyId& id) { return managed_.contains(id); }))
    return kMissing;
  shared_.staged.expire(managed_);
  Verdict verdict = check_management(shared_.staged, shared_.store, job.role, request);
  if (verdict == kAdmit && request.op == TKDC_OP_EQUAL) {
    if (!shared_.equals.may_compare(request.key.principal)) return TKDC_STATUS_LIMIT;
    auto record = shared_.store.get(request.key.id);
    if (!record) return TKDC_STATUS_INTERNAL;
    job.found.record = *record;
  }
  if (verdict == kAdmit) {
    managed_.insert(keys.begin(), keys.end());
    job.found.holds_key = true;
  }
  return verdict;
}

Verdict JobChecks::check_key_use(Job& job, bool clock_ok) {
  const JobRequest& request = job.request;
  const tkdc_status own =
      check_use(shared_.store, shared_.options.installation, job.role, request, job.found.record);
  if (own != TKDC_STATUS_OK) return static_cast<Verdict>(own);
  if (const Verdict part = check_part(job); part != kAdmit) return part;
  if (!in_gcm_form(*job.found.record, request.usage)) return kAdmit;
  if (!clock_ok && (request.op == TKDC_OP_SEAL || request.op == TKDC_OP_OPEN)) {
    job.found.clock_wrong = true;
    return TKDC_STATUS_LIMIT;
  }
  if (request.op == TKDC_OP_SEAL) {
    auto more = shared_.seals.may_seal(request.key.id);
    if (!more) return TKDC_STATUS_INTERNAL;
    if (!*more) return TKDC_STATUS_LIMIT;
  }
  return kAdmit;
}

// A tail takes its head here, before any verdict is told: two of them would else both be admitted.
// One that has to wait has taken it when it is looked at again.
Verdict JobChecks::check_part(Job& job) {
  const Part asked = part_in(job.request, two_parts_);
  const bool leaves = leaves_tail(*job.found.record, job.request.op, job.request.usage, asked,
                                  job.request.component[0].size());
  if (leaves && !shared_.half_done.room(job.request.name.agent)) return TKDC_STATUS_LIMIT;
  if (asked.kind != Part::Kind::kTail || job.head_taken) return kAdmit;
  job.head_taken = two_parts_ && shared_.half_done.take(job.request, asked.head);
  job.found.head_missing = !job.head_taken;
  return job.head_taken ? kAdmit : Verdict{TKDC_STATUS_UNAVAILABLE};
}

// Jobs that are refused anyway count for their agent, not for the key that they name. One that
// has to wait is counted when it is looked at again. A tail was counted with its head.
Verdict JobChecks::check_rate(Job& job, Verdict others) {
  if (others == kMissing) return others;
  if (job.head_taken) return others;
  const KeyRecord* used = others == kAdmit ? job.found.record.get() : nullptr;
  if (!job.rate) job.rate = shared_.limits.count(job.request.name.agent, used);
  const bool limited = others == kAdmit && *job.rate != RateVerdict::kAllowed;
  return limited ? Verdict{TKDC_STATUS_LIMIT} : others;
}

// The manifest's choice has to be what the job asks for. Unavailable, not refused: a refusal is a
// wrong password to the KDC.
bool JobChecks::asks_for_another(const Job& job, const ProtocolInfo& chosen) const {
  return !job.request.protocol.empty() && job.request.protocol != chosen.name;
}

// And it has to take what is stored or staged.
bool JobChecks::is_shared_otherwise(const Job& job, const ProtocolInfo& chosen) const {
  if (job.found.record && job.found.record->sharing != chosen.sharing) return true;
  if (!is_management(job.request.op)) return false;
  const std::vector<KeyId> keys = keys_at_work(job.request);
  return std::ranges::any_of(keys, [&](const KeyId& id) {
    const StagedKey* staged = shared_.staged.find(id);
    return staged != nullptr && staged->sharing != chosen.sharing;
  });
}

Verdict JobChecks::check(Job& job, std::uint8_t protocol, bool clock_ok) {
  job.found = {};
  const ProtocolInfo chosen = protocols_[protocol]->info();
  job.found.no_protocol = asks_for_another(job, chosen);
  if (job.found.no_protocol) return check_rate(job, TKDC_STATUS_UNAVAILABLE);
  const bool management = is_management(job.request.op);
  if (management && shared_.upkeep.refreshing()) return TKDC_STATUS_UNAVAILABLE;
  Verdict verdict = management ? check_key_management(job) : check_key_use(job, clock_ok);
  job.found.no_protocol = verdict == kAdmit && is_shared_otherwise(job, chosen);
  if (job.found.no_protocol) verdict = TKDC_STATUS_UNAVAILABLE;
  return check_rate(job, verdict);
}

void JobChecks::let_go(const JobRequest& request) {
  for (const KeyId& id : keys_at_work(request)) managed_.erase(id);
}

}  // namespace tkdc
