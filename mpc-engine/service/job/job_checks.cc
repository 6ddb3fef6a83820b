// SPDX-License-Identifier: Apache-2.0
#include "service/job/job_checks.h"

#include <algorithm>

#include "service/lifecycle/management.h"
#include "service/operation/check_use.h"
#include "service/operation/operations.h"

namespace tkdc {

// While another job works on the same key this one counts as missing: it is put
// back and checked again when that one is done.
Verdict JobChecks::check_key_management(Candidate& candidate) {
  const JobRequest& request = candidate.job->request;
  if (request.key.installation != shared_.options.installation) return TKDC_STATUS_UNKNOWN_KEY;
  if (lane_ != 0) return TKDC_STATUS_BAD_REQUEST;
  const std::vector<KeyId> keys = keys_at_work(request);
  if (std::ranges::any_of(keys, [&](const KeyId& id) { return managed_.contains(id); }))
    return kMissing;
  shared_.staged.expire(managed_);
  Verdict verdict = check_management(shared_.staged, shared_.store, candidate.job->role, request);
  if (verdict == kAdmit && request.op == TKDC_OP_EQUAL) {
    if (!shared_.equals.may_compare(request.key.principal)) return TKDC_STATUS_LIMIT;
    auto record = shared_.store.get(request.key.id);
    if (!record) return TKDC_STATUS_INTERNAL;
    candidate.record = *record;
  }
  if (verdict == kAdmit) {
    managed_.insert(keys.begin(), keys.end());
    candidate.holds_key = true;
  }
  return verdict;
}

Verdict JobChecks::check_key_use(Candidate& candidate, bool clock_ok) {
  const JobRequest& request = candidate.job->request;
  const tkdc_status own = check_use(shared_.store, shared_.options.installation,
                                    candidate.job->role, request, candidate.record);
  if (own != TKDC_STATUS_OK) return static_cast<Verdict>(own);
  if (const Verdict part = check_part(candidate); part != kAdmit) return part;
  if (!in_gcm_form(*candidate.record, request.usage)) return kAdmit;
  if (!clock_ok && (request.op == TKDC_OP_SEAL || request.op == TKDC_OP_OPEN)) {
    candidate.clock_wrong = true;
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
Verdict JobChecks::check_part(Candidate& candidate) {
  PendingJob& job = *candidate.job;
  const Part asked = part_in(job.request, two_parts_);
  const bool leaves = leaves_tail(*candidate.record, job.request.op, job.request.usage, asked,
                                  job.request.component[0].size());
  if (leaves && !shared_.half_done.room(job.request.name.agent)) return TKDC_STATUS_LIMIT;
  if (asked.kind != Part::Kind::kTail || job.head_taken) return kAdmit;
  job.head_taken = two_parts_ && shared_.half_done.take(job.request, asked.head);
  candidate.head_missing = !job.head_taken;
  return job.head_taken ? kAdmit : Verdict{TKDC_STATUS_UNAVAILABLE};
}

// Jobs that are refused anyway count for their agent, not for the key that they name. One that
// has to wait is counted when it is looked at again. A tail was counted with its head.
Verdict JobChecks::check_rate(Candidate& candidate, Verdict others) {
  if (others == kMissing) return others;
  PendingJob& job = *candidate.job;
  if (job.head_taken) return others;
  const KeyRecord* used = others == kAdmit ? candidate.record.get() : nullptr;
  if (!job.rate) job.rate = shared_.limits.count(job.request.name.agent, used);
  const bool limited = others == kAdmit && *job.rate != RateVerdict::kAllowed;
  return limited ? Verdict{TKDC_STATUS_LIMIT} : others;
}

// The manifest's choice has to be what the job asks for, and has to take what is stored.
// Unavailable, not refused: a refusal is a wrong password to the KDC.
Verdict JobChecks::check_protocol(Candidate& candidate) const {
  const ProtocolInfo chosen = protocols_[candidate.protocol]->info();
  const std::string& asked = candidate.job->request.protocol;
  candidate.no_protocol = (!asked.empty() && asked != chosen.name) ||
                          (candidate.record && candidate.record->sharing != chosen.sharing);
  return candidate.no_protocol ? Verdict{TKDC_STATUS_UNAVAILABLE} : kAdmit;
}

Verdict JobChecks::check(Candidate& candidate, bool clock_ok) {
  const bool management = is_management(candidate.job->request.op);
  Verdict verdict =
      management ? check_key_management(candidate) : check_key_use(candidate, clock_ok);
  if (verdict == kAdmit) verdict = check_protocol(candidate);
  return check_rate(candidate, verdict);
}

void JobChecks::let_go(const JobRequest& request) {
  for (const KeyId& id : keys_at_work(request)) managed_.erase(id);
}

}  // namespace tkdc
