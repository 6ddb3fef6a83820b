// SPDX-License-Identifier: Apache-2.0
#include "service/job/job_checks.h"

#include <algorithm>

#include "base/log.h"
#include "service/lifecycle/management.h"
#include "service/operation/check_use.h"
#include "service/operation/operations.h"
#include "service/wire/request_id.h"

namespace tkdc {
namespace {

// What this server has against a job, for the agent's log: the one cause that it knows.
constexpr const char* kNoSuchProtocol =
    "this session has no protocol of the name that the agent asks for (its `protocol`), or none "
    "that takes this key's shares; `tkdc status --json` shows the session's";
constexpr const char* kRefreshing =
    "shares are being refreshed, and keys are neither made nor removed meanwhile; try again when "
    "`tkdc shares status` says that it is done";
constexpr const char* kRepairing =
    "a server that has lost its store is being repaired, and no key is used meanwhile: see "
    "`tkdc repair status`";
constexpr const char* kNoHead =
    "this server has answered no head of this tail, or it was too long ago or has had its tail; "
    "the operation must be asked for anew";
constexpr const char* kClockWrong =
    "this server's clock is more than two minutes off server 0's, so it takes no time of sealing "
    "or removing: set it, and run NTP on all three (tkdc status)";
constexpr const char* kTooManyHeads = "this agent has left too many operations half done";
constexpr const char* kTimeRevoked =
    "tickets that are sealed now were revoked by an administrator, so none is: wait, some three "
    "minutes at most (tkdc status says until when)";
constexpr const char* kNotApproved =
    "a dropped key comes back only when two administrators have approved it at all three servers: "
    "`tkdc give-back`";
constexpr const char* kSealedTooOften =
    "the key has sealed 2^38 tickets (tkdc status): draw a new krbtgt key";

}  // namespace

// The agent hears that it failed; why stands in this server's own journal.
Verdict JobChecks::failed(const Error& why) const {
  if (shared_.options.trouble) shared_.options.trouble(why.message);
  return TKDC_STATUS_INTERNAL;
}

Verdict JobChecks::limited(Job& job, const char* why) {
  job.found.why = why;
  return TKDC_STATUS_LIMIT;
}

// While another job works on the same key this one counts as missing: it is put
// back and checked again when that one is done.
Verdict JobChecks::check_key_management(Job& job, const ManifestTime& time) {
  const JobRequest& request = job.request;
  if (request.key.installation != shared_.options.installation) return TKDC_STATUS_UNKNOWN_KEY;
  if (lane_index_ != 0) return TKDC_STATUS_BAD_REQUEST;
  const std::vector<KeyId> keys = keys_at_work(request);
  if (std::ranges::any_of(keys, [&](const KeyId& id) { return managed_.contains(id); }))
    return kMissing;
  shared_.staged.expire(managed_);
  Verdict verdict = check_management(shared_.staged, shared_.store, job.role, request,
                                     shared_.options.may_give_back);
  if (verdict == TKDC_STATUS_DENIED && request.op == TKDC_OP_GIVE_BACK)
    job.found.why = kNotApproved;
  if (verdict == TKDC_STATUS_LIMIT) return limited(job, kTooManyStaged);
  if (verdict == kAdmit && request.op == TKDC_OP_EQUAL) {
    if (!shared_.equals.may_compare(request.key.principal)) return limited(job, kComparedTooOften);
    auto record = shared_.store.get(request.key.id);
    if (!record) return failed(record.error());
    job.found.record = *record;
  }
  // It says since when the key is dropped, so it has to be right.
  const bool removes =
      request.op == TKDC_OP_DESTROY && shared_.staged.find(request.key.id) == nullptr;
  if (verdict == kAdmit && removes && !time.clock_ok) return limited(job, kClockWrong);
  if (verdict == kAdmit) {
    managed_.insert(keys.begin(), keys.end());
    job.found.holds_key = true;
  }
  return verdict;
}

Verdict JobChecks::check_key_use(Job& job, const ManifestTime& time) {
  const JobRequest& request = job.request;
  const tkdc_status own =
      check_use(shared_.store, shared_.options.installation, job.role, request, job.found.record);
  if (own != TKDC_STATUS_OK) return static_cast<Verdict>(own);
  Garbled& garbled = job.found.garbled;
  if (garbled != Garbled::kNo &&
      !(garbling_ && garbling_->serves(*job.found.record, request.op, request.usage,
                                       request.input_bytes(), garbled)))
    garbled = Garbled::kNo;
  if (const Verdict part = check_part(job); part != kAdmit) return part;
  if (!in_gcm_form(*job.found.record, request.usage)) return kAdmit;
  if (!time.clock_ok && (request.op == TKDC_OP_SEAL || request.op == TKDC_OP_OPEN)) {
    return limited(job, kClockWrong);
  }
  if (request.op == TKDC_OP_SEAL && time.revoked) {
    job.found.why = kTimeRevoked;
    return TKDC_STATUS_UNAVAILABLE;
  }
  if (request.op == TKDC_OP_SEAL) {
    auto more = shared_.seals.may_seal(request.key.id);
    if (!more) return failed(more.error());
    if (!*more) return limited(job, kSealedTooOften);
  }
  return kAdmit;
}

// A tail takes its head here, before any verdict is told: two of them would else both be admitted.
// One that has to wait has taken it when it is looked at again.
Verdict JobChecks::check_part(Job& job) {
  const Part asked = part_in(job, two_parts_);
  const bool leaves = leaves_tail(*job.found.record, job.request.op, job.request.usage, asked,
                                  job.request.input_bytes());
  if (leaves && !shared_.half_done.room(job.request.name.agent)) return limited(job, kTooManyHeads);
  if (asked.kind != Part::Kind::kTail || job.head_taken) return kAdmit;
  job.head_taken = two_parts_ && shared_.half_done.take(job.request, asked.head);
  if (job.head_taken) return kAdmit;
  job.found.why = kNoHead;
  return TKDC_STATUS_UNAVAILABLE;
}

// Jobs that are refused anyway count for their agent, not for the key that they name. One that
// has to wait is counted when it is looked at again. A tail was counted with its head.
Verdict JobChecks::check_rate(Job& job, Verdict others) {
  if (others == kMissing) return others;
  if (job.head_taken) return others;
  const KeyRecord* used = others == kAdmit ? job.found.record.get() : nullptr;
  if (!job.rate) job.rate = shared_.limits.count(job.request.name.agent, used);
  if (others != kAdmit || *job.rate == RateVerdict::kAllowed) return others;
  return limited(job, *job.rate == RateVerdict::kKeyTooOften ? kKeyTooOften : kAgentTooOften);
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

Verdict JobChecks::check(Job& job, std::uint8_t protocol, const ManifestTime& time) {
  const LogField about(request_field(job.request.request_id));
  job.found = {};
  const NamedProtocol named = protocol_named(protocol, protocols_);
  job.found.learns = named.garbled != Garbled::kNo;
  job.found.garbled = named.garbled == Garbled::kLearn ? Garbled::kNo : named.garbled;
  const auto unavailable = [&](const char* why) {
    job.found.why = why;
    return check_rate(job, TKDC_STATUS_UNAVAILABLE);
  };
  if (shared_.options.audit_works && !shared_.options.audit_works()) return unavailable(kUnaudited);
  if (shared_.upkeep.repairing()) return unavailable(kRepairing);
  if (!job.request.dealt.empty()) return check_rate(job, TKDC_STATUS_BAD_REQUEST);
  const ProtocolInfo chosen = protocols_[named.protocol]->info();
  if (asks_for_another(job, chosen)) return unavailable(kNoSuchProtocol);
  const bool management = is_management(job.request.op);
  if (management && shared_.upkeep.refreshing()) {
    job.found.why = kRefreshing;
    return TKDC_STATUS_UNAVAILABLE;
  }
  Verdict verdict = management ? check_key_management(job, time) : check_key_use(job, time);
  if (verdict == kAdmit && is_shared_otherwise(job, chosen)) return unavailable(kNoSuchProtocol);
  return check_rate(job, verdict);
}

void JobChecks::let_go(const JobRequest& request) {
  for (const KeyId& id : keys_at_work(request)) managed_.erase(id);
}

}  // namespace tkdc
