// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_checks.h"

#include <cstring>

#include "base/log.h"
#include "service/job/job_checks.h"
#include "service/lifecycle/equal.h"
#include "service/lifecycle/management.h"
#include "service/operation/check_use.h"
#include "service/wire/request_id.h"

namespace tkdc {
namespace {

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
constexpr const char* kOfTooMany =
    "agents with this one's key have been started too often in one session of the servers: start "
    "it again, or wait for the next session";
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

using Way = PairTables::Way;

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
  const LogField about(request_field(of.job->request.request_id));
  PairStatement out;
  of.job->found = {};
  out.verdict = of.job->found.own = count(of, look_at(of));
  if (out.verdict != kAdmit) return out;
  out.opened = digest_of(of);
  const KeyRecord* record = of.job->found.record.get();
  if (record != nullptr) out.held = held_of(of);
  std::size_t ready = 0;
  for (const std::string& kind : of.kinds) ready += at_work_.reserve.ready(kind);
  out.ready = static_cast<std::uint16_t>(ready);
  out.tables = tables_for(of);
  return out;
}

// An OPEN of a length that nobody has proved goes by circuits, which have a budget. A made-up one
// of a proved length takes tables.
PairByTables PairChecks::tables_for(const PairJob& of) const {
  PairByTables out;
  out.left = at_work_.tables.left();
  if (!of.by_tables) return out;
  const PairTableJob& job = *of.by_tables;
  out.ready = static_cast<std::uint16_t>(at_work_.reserve.ready(job.kind));
  out.round_keys =
      at_work_.records.has_round_keys(of.job->found.record->ref.id, of.whole.held.front().field);
  const bool enough = out.left.of(Way::kForward) >= job.needs(Way::kForward, out.round_keys) &&
                      out.left.of(Way::kInverse) >= job.needs(Way::kInverse, out.round_keys);
  const bool seals = job.way == Way::kForward;
  out.wanted = enough && (seals || at_work_.proved.has(of.kinds.back()));
  return out;
}

PairHeld PairChecks::held_of(const PairJob& of) const {
  const KeyId& id = of.job->found.record->ref.id;
  if (!at_work_.records.holds(id)) return PairHeld::kNothing;
  return of.derivation && at_work_.records.has_made(id, of.derivation->pepper) ? PairHeld::kPrf
                                                                               : PairHeld::kRecord;
}

Verdict PairChecks::look_at(PairJob& of) {
  const JobRequest& request = of.job->request;
  if (shared_.options.audit_works && !shared_.options.audit_works())
    return because(of, TKDC_STATUS_UNAVAILABLE, kUnaudited);
  if (of.job->deadline <= Job::Clock::now()) return because(of, TKDC_STATUS_UNAVAILABLE, kTooLate);
  if (!request.protocol.empty() && request.protocol != "pair")
    return because(of, TKDC_STATUS_UNAVAILABLE, kNoProtocol);
  if (const Verdict deal = look_at_deal(of); deal != kAdmit) return deal;
  return is_management(request.op) ? look_at_management(of) : look_at_use(of);
}

// Of what an agent deals the length follows from what it asks for. A known half is dealt by itself,
// before the rest: it enters another circuit.
Verdict PairChecks::look_at_deal(PairJob& of) {
  const JobRequest& request = of.job->request;
  const auto pad = pad_bytes(request);
  if (!pad || !request.component[0].empty()) return TKDC_STATUS_BAD_REQUEST;
  if (const auto by = decode_derivation(request.public_data); by && is_derived(request.op))
    of.half_bytes = known_half_bytes(*by);
  if (request.input_bytes() < of.half_bytes) return TKDC_STATUS_BAD_REQUEST;
  of.input_bytes = request.input_bytes() - of.half_bytes;
  of.pad_bytes = *pad;
  of.has_dealt = of.input_bytes + of.pad_bytes > 0;
  if (!of.has_dealt) return request.dealt.empty() ? kAdmit : Verdict{TKDC_STATUS_BAD_REQUEST};
  const std::size_t first = of.half_bytes > 0 ? pair::dealt_bytes(8 * of.half_bytes) : 0;
  if (request.dealt.size() < first) return TKDC_STATUS_BAD_REQUEST;
  const ByteSpan octets = request.dealt;
  auto dealt = pair::get_dealt(octets.subspan(first), 8 * (of.input_bytes + of.pad_bytes));
  if (!dealt) return TKDC_STATUS_BAD_REQUEST;
  of.dealt = std::move(*dealt);
  if (of.half_bytes > 0) {
    auto half = pair::get_dealt(octets.first(first), 8 * of.half_bytes);
    if (!half) return TKDC_STATUS_BAD_REQUEST;
    of.half = std::move(*half);
    const Verdict one = look_at_number(of, *of.half, pair::DealPart::kHalf);
    if (one != kAdmit) return one;
  }
  return look_at_number(of, of.dealt, pair::DealPart::kRest);
}

Verdict PairChecks::look_at_number(PairJob& of, pair::Dealt& dealt, pair::DealPart part) {
  using Is = pair::ServedDeals::Is;
  const JobName& name = of.job->request.name;
  if (!at_work_.session.is(dealt.session)) return TKDC_STATUS_DEAL_AGAIN;
  if (!pair::Session::is_same(dealt.number, pair::deal_number(name.run, name.number, part)))
    return TKDC_STATUS_BAD_REQUEST;
  dealt.client = name.agent;
  switch (at_work_.session.state_of_deal(dealt.client, dealt.number)) {
    case Is::kNew: return kAdmit;
    case Is::kServed: return because(of, TKDC_STATUS_UNAVAILABLE, kServed);
    case Is::kTooOld: return TKDC_STATUS_DEAL_AGAIN;
    case Is::kOfTooMany: return because(of, TKDC_STATUS_LIMIT, kOfTooMany);
  }
  return TKDC_STATUS_BAD_REQUEST;
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
  const bool derives = is_derived(request.op);
  of.derivation = derives ? derivation_of(*record, request) : std::nullopt;
  if (derives && !of.derivation) return because(of, TKDC_STATUS_UNAVAILABLE, kNotDerived);
  if (derives && of.half.has_value() != of.derivation->needs_half) return TKDC_STATUS_BAD_REQUEST;
  auto whole = derives ? whole_of(of.derivation->shape, operation_of(request.op), request.usage,
                                  of.input_bytes)
                       : whole_of(*record, request.op, request.usage, of.input_bytes);
  if (!whole) return because(of, TKDC_STATUS_UNAVAILABLE, kNotDerived);
  of.whole = std::move(*whole);
  if (!derives && at_work_.tables.work())
    of.by_tables = table_job(at_work_.circuits, of.whole.circuit);
  return look_at_kinds(of);
}

// Cookies, which anybody can make up and no stock KDC makes, take nothing from tickets.
PairProved& PairChecks::budget_for(const Job& job) const {
  return job.request.usage == usage::kCookie ? at_work_.cookies : at_work_.proved;
}

// Each of its circuits can be prepared, and where anybody may have sent what it is of, those that
// nobody has proved and that are not ready wait for their turn together.
Verdict PairChecks::look_at_kinds(PairJob& of) {
  if (of.derivation) of.kinds = {of.derivation->prf, of.derivation->keys};
  of.kinds.push_back(answer_kind(of.whole.circuit));
  std::uint64_t unproved = 0;
  for (const std::string& kind : of.kinds) {
    const auto ands = at_work_.circuits.look_up(kind);
    if (!ands) return because(of, TKDC_STATUS_LIMIT, kTooLong);
    if (!at_work_.proved.has(kind) && at_work_.reserve.ready(kind) == 0) unproved += *ands;
  }
  const tkdc_wire_op op = of.job->request.op;
  const bool of_anybody = op == TKDC_OP_OPEN || op == TKDC_OP_VERIFY || op == TKDC_OP_OPEN_DERIVED;
  if (!of_anybody || unproved == 0) return kAdmit;
  // Beyond its rate it is refused anyway, and costs nothing here.
  Job& job = *of.job;
  if (!job.rate) job.rate = shared_.limits.count(job.request.name.agent, job.found.record.get());
  if (*job.rate == RateVerdict::kAllowed && !budget_for(job).may_try(job.request.name, unproved))
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
  const std::uint64_t lengths[] = {of.half_bytes, of.input_bytes, of.pad_bytes};
  add(state, lengths);
  if (of.half) {
    add(state, of.half->session);
    add(state, of.half->number);
  }
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
