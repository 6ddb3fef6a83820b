// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_checks.h"

#include <cstring>

#include "service/job/job_checks.h"
#include "service/lifecycle/equal.h"
#include "service/lifecycle/management.h"
#include "service/operation/check_use.h"

namespace tkdc {
namespace {

constexpr const char* kNotByTwo =
    "two servers do not compute with derived keys yet: FAST and its cookies need three";
constexpr const char* kNoProtocol =
    "the agent asks for a protocol (its `protocol`) that two servers have not";
constexpr const char* kSharedOtherwise =
    "this key was not made by these two servers: import it, or restore the store that it is of";
constexpr const char* kNotDerived =
    "this key was bound before this usage was served: make a new one";
constexpr const char* kNoPool =
    "keys: this server has lost the pool that a key is of: its store was changed, or restored "
    "without it";
constexpr const char* kServed = "this deal has been used: the agent has to deal anew";
constexpr const char* kTooLate = "its deadline was over before both servers had it";
constexpr const char* kTooLong =
    "two servers take no operation of that length: it is longer than they can prepare";
constexpr const char* kUnproved =
    "too many tickets or messages of lengths that nobody has sealed here: somebody may be sending "
    "octets that are no tickets; others are served";

Verdict because(PairJob& of, tkdc_status status, const char* why) {
  of.job->found.why = why;
  return static_cast<Verdict>(status);
}

template <class T>
void add(crypto_generichash_state& state, const T& what) {
  crypto_generichash_update(&state, reinterpret_cast<const std::uint8_t*>(&what), sizeof what);
}

}  // namespace

// The agent hears that it failed; why stands in this server's own journal.
Verdict PairChecks::failed(const Error& why) const {
  if (shared_.options.trouble) shared_.options.trouble(why.message);
  return TKDC_STATUS_INTERNAL;
}

PairStatement PairChecks::check(PairJob& of) {
  PairStatement out;
  of.job->found = {};
  out.verdict = of.job->found.own = count(of, look_at(of));
  if (out.verdict != kAdmit) return out;
  out.opened = digest_of(of);
  const KeyRecord* record = of.job->found.record.get();
  out.held = record != nullptr && at_work_.records.holds(record->ref.id);
  if (!of.kind.empty()) out.ready = static_cast<std::uint16_t>(at_work_.reserve.ready(of.kind));
  return out;
}

Verdict PairChecks::look_at(PairJob& of) {
  const JobRequest& request = of.job->request;
  if (shared_.options.audit_works && !shared_.options.audit_works())
    return because(of, TKDC_STATUS_UNAVAILABLE, kUnaudited);
  if (of.job->deadline <= Job::Clock::now()) return because(of, TKDC_STATUS_UNAVAILABLE, kTooLate);
  if (!request.protocol.empty() && request.protocol != "pair")
    return because(of, TKDC_STATUS_UNAVAILABLE, kNoProtocol);
  if (is_derived(request.op)) return because(of, TKDC_STATUS_UNAVAILABLE, kNotByTwo);
  if (const Verdict deal = look_at_deal(of); deal != kAdmit) return deal;
  return is_management(request.op) ? look_at_management(of) : look_at_use(of);
}

// Of what an agent deals the length follows from what it asks for.
Verdict PairChecks::look_at_deal(PairJob& of) {
  const JobRequest& request = of.job->request;
  const auto pad = pad_bytes(request);
  if (!pad || !request.component[0].empty()) return TKDC_STATUS_BAD_REQUEST;
  of.input_bytes = request.input_bytes();
  of.pad_bytes = *pad;
  of.has_dealt = of.input_bytes + of.pad_bytes > 0;
  if (!of.has_dealt) return request.dealt.empty() ? kAdmit : Verdict{TKDC_STATUS_BAD_REQUEST};
  auto dealt = pair::get_dealt(request.dealt, 8 * (of.input_bytes + of.pad_bytes));
  if (!dealt) return TKDC_STATUS_BAD_REQUEST;
  of.dealt = std::move(*dealt);
  if (!at_work_.session.is(of.dealt.session)) return TKDC_STATUS_DEAL_AGAIN;
  if (at_work_.session.has_served(of.dealt.number))
    return because(of, TKDC_STATUS_UNAVAILABLE, kServed);
  return kAdmit;
}

Verdict PairChecks::look_at_use(PairJob& of) {
  const JobRequest& request = of.job->request;
  auto& record = of.job->found.record;
  const tkdc_status own =
      check_use(shared_.store, shared_.options.installation, of.job->role, request, record);
  if (own != TKDC_STATUS_OK) return static_cast<Verdict>(own);
  const auto part = part_of(request);
  if (!part || part->kind != Part::Kind::kWhole) return TKDC_STATUS_BAD_REQUEST;
  if (record->sharing != kPairSharing)
    return because(of, TKDC_STATUS_UNAVAILABLE, kSharedOtherwise);
  if (const Verdict pool = has_pool(*record); pool != kAdmit) return pool;
  auto whole = whole_of(*record, request.op, request.usage, of.input_bytes);
  if (!whole) return because(of, TKDC_STATUS_UNAVAILABLE, kNotDerived);
  of.whole = std::move(*whole);
  of.kind = answer_kind(of.whole.circuit);
  const auto ands = at_work_.circuits.look_up(of.kind);
  if (!ands) return because(of, TKDC_STATUS_LIMIT, kTooLong);
  const bool of_anybody = request.op == TKDC_OP_OPEN || request.op == TKDC_OP_VERIFY;
  if (of_anybody && !at_work_.proved.has(of.kind) && at_work_.reserve.ready(of.kind) == 0 &&
      !at_work_.proved.may_try(*ands))
    return because(of, TKDC_STATUS_LIMIT, kUnproved);
  return kAdmit;
}

Verdict PairChecks::look_at_management(PairJob& of) {
  const JobRequest& request = of.job->request;
  if (request.key.installation != shared_.options.installation) return TKDC_STATUS_UNKNOWN_KEY;
  shared_.staged.expire({});
  const tkdc_status own = check_management(shared_.staged, shared_.store, of.job->role, request);
  if (own == TKDC_STATUS_LIMIT) return because(of, own, kTooManyStaged);
  if (own != TKDC_STATUS_OK) return static_cast<Verdict>(own);
  for (const KeyId& id : keys_at_work(request))
    if (const StagedKey* staged = shared_.staged.find(id); staged != nullptr) {
      pair::Label pool;
      std::memcpy(&pool, staged->pool.data(), sizeof pool);
      if (at_work_.pools.find(pool) == nullptr) return failed(fail(kNoPool));
    }
  if (request.op != TKDC_OP_EQUAL) return kAdmit;
  if (!shared_.equals.may_compare(request.key.principal))
    return because(of, TKDC_STATUS_LIMIT, kComparedTooOften);
  auto record = shared_.store.get(request.key.id);
  if (!record) return failed(record.error());
  of.job->found.record = *record;
  if ((*record)->sharing != kPairSharing)
    return because(of, TKDC_STATUS_UNAVAILABLE, kSharedOtherwise);
  return has_pool(**record);
}

Verdict PairChecks::has_pool(const KeyRecord& record) const {
  auto pool = pool_of(record);
  if (!pool) return failed(pool.error());
  return at_work_.pools.find(*pool) == nullptr ? failed(fail(kNoPool)) : kAdmit;
}

// Jobs that are refused anyway count for their agent, not for the key that they name. Once, however
// often it is named.
Verdict PairChecks::count(PairJob& of, Verdict others) {
  Job& job = *of.job;
  const KeyRecord* used = others == kAdmit ? job.found.record.get() : nullptr;
  if (!job.rate) job.rate = shared_.limits.count(job.request.name.agent, used);
  if (others != kAdmit || *job.rate == RateVerdict::kAllowed) return others;
  const bool key = *job.rate == RateVerdict::kKeyTooOften;
  return because(of, TKDC_STATUS_LIMIT, key ? kKeyTooOften : kAgentTooOften);
}

// What a job works on besides its record: a staged key.
Digest PairChecks::digest_of(const PairJob& of) const {
  const JobRequest& request = of.job->request;
  const Digest opened = digest_job(request, of.job->role, of.job->found.record.get(), 0).opened;
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, sizeof(Digest));
  add(state, opened);
  add(state, of.dealt.session);
  add(state, of.dealt.number);
  const std::uint64_t lengths[2] = {of.input_bytes, of.pad_bytes};
  add(state, lengths);
  for (const KeyId& id : keys_at_work(request))
    if (const StagedKey* staged = shared_.staged.find(id)) {
      const std::uint64_t about[] = {staged->origin, staged->kvno,     staged->enctype,
                                     staged->agent,  staged->exported, staged->key.size()};
      add(state, about);
      add(state, staged->pool);
      add(state, staged->compared_with.value_or(PrincipalDigest()));
    }
  Digest out;
  crypto_generichash_final(&state, out.data(), out.size());
  return out;
}

}  // namespace tkdc
