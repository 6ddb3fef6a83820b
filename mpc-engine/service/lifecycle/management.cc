// SPDX-License-Identifier: Apache-2.0
#include "service/lifecycle/management.h"

#include <functional>

#include "service/admit/policy.h"
#include "service/lifecycle/equal.h"
#include "service/operation/keys.h"
#include "service/store/dropped_table.h"

namespace tkdc {
namespace {

std::string bound_name(const JobRequest& request) {
  return {request.public_data.begin(), request.public_data.end()};
}

tkdc_status check_stage(StagedKeys& staged, Store& store, const JobRequest& request) {
  const std::size_t key_bytes = key_bytes_of(request.key.enctype);
  if (key_bytes == 0 || request.public_data.size() != 1) return TKDC_STATUS_BAD_REQUEST;
  const bool drawn = request.public_data[0] == TKDC_ORIGIN_DRAWN;
  if (!drawn && request.public_data[0] != TKDC_ORIGIN_IMPORTED) return TKDC_STATUS_BAD_REQUEST;
  if (request.input_bytes() != (drawn ? 0 : key_bytes)) return TKDC_STATUS_BAD_REQUEST;
  if (staged.full()) return TKDC_STATUS_LIMIT;
  auto existing = store.get(request.key.id);
  if (!existing) return TKDC_STATUS_INTERNAL;
  const bool taken = staged.find(request.key.id) != nullptr || *existing != nullptr;
  return taken ? TKDC_STATUS_BAD_REQUEST : TKDC_STATUS_OK;
}

tkdc_status check_bind(const StagedKey& key, const JobRequest& request) {
  const std::string name = bound_name(request);
  auto key_class = classify_principal(name);
  if (!key_class) return TKDC_STATUS_BAD_REQUEST;
  PrincipalDigest digest;
  crypto_hash_sha256(digest.data(), request.public_data.data(), request.public_data.size());
  if (digest != request.key.principal || request.key.enctype != key.enctype)
    return TKDC_STATUS_BAD_REQUEST;
  if (key.compared_with && *key.compared_with != digest) return TKDC_STATUS_DENIED;
  const bool guarded = *key_class == KeyClass::kKrbtgt || *key_class == KeyClass::kCrossRealm ||
                       *key_class == KeyClass::kKadmin;
  return guarded && key.exported ? TKDC_STATUS_DENIED : TKDC_STATUS_OK;
}

// Each server tells both others what it heard: of the one before it, then of the one behind it.
// Goes on only if nobody told its two neighbours different things.
Task<void> votes_agree(Lane& lane, std::uint8_t mine, FromBoth votes) {
  const std::uint8_t prev = votes.prev[0], next = votes.next[0];
  // The previous server's neighbours are the next one and this; the next one's this and
  // the previous one.
  Bytes heard(1, prev);
  heard.push_back(next);
  Lane::Expected expected;
  expected.from_prev.assign(1, next);
  expected.from_prev.push_back(mine);
  expected.from_next.assign(1, mine);
  expected.from_next.push_back(prev);
  FromBoth told =
      co_await lane.exchange(std::move(heard), std::move(expected),
                             "the servers were told different things about what a store did");
}

// Every party says whether it succeeded; true only if all three did. In malicious
// mode a server that says one thing to one neighbour and another to the other would
// make one of them commit what the other abandons: then nobody goes on.
Task<bool> all_succeeded(Lane& lane, bool mine) {
  const std::uint8_t vote = mine ? 1 : 0;
  FromBoth others = co_await lane.exchange(ByteSpan(&vote, 1));
  if (lane.security() == Security::kMalicious) co_await votes_agree(lane, vote, others);
  co_return mine&& others.prev[0] == 1 && others.next[0] == 1;
}

// What a change of the three stores consists of, at this server. After the first
// step nothing has changed for good.
struct Phases {
  std::function<Result<void>()> first, undo, second;
};

// A store is unlike the others', or has what nobody wants. No session goes on with that: what
// starts the next one settles it, or starts none while the store cannot be written.
JobOutcome refuse_half_made(std::string message) {
  JobOutcome outcome = refuse(TKDC_STATUS_INTERNAL, std::move(message));
  outcome.ends_session = "keys: " + outcome.message + "; a new session begins, which settles it";
  return outcome;
}

// By all three servers or by none. `verb` and `done` are for the message.
Task<JobOutcome> in_two_phases(Lane& lane, const Phases& phases, std::string_view verb,
                               std::string_view done) {
  const std::string what = "could not " + std::string(verb) + " the key";
  const Result<void> first = phases.first();
  bool everywhere = co_await all_succeeded(lane, first.ok());
  if (!everywhere) {
    if (!first)
      co_return refuse(TKDC_STATUS_INTERNAL, "this server " + what + ": " + first.error().message);
    const std::string others = "another server " + what + "; nothing was " + std::string(done);
    const Result<void> undone = phases.undo();
    if (!undone)
      co_return refuse_half_made(others +
                                 ", which this server could not undo: " + undone.error().message);
    co_return refuse(TKDC_STATUS_INTERNAL, others);
  }
  const Result<void> second = phases.second();
  everywhere = co_await all_succeeded(lane, second.ok());
  if (everywhere) co_return JobOutcome();
  if (!second) co_return refuse_half_made("this server " + what + ": " + second.error().message);
  co_return refuse_half_made("another server " + what + " yet");
}

Task<JobOutcome> stage(ManagementContext context, const JobRequest& request, SharedBytes input) {
  StagedKey key;
  key.origin = request.public_data[0];
  key.kvno = request.key.kvno;
  key.enctype = request.key.enctype;
  key.agent = request.name.agent;
  key.sharing = context.protocol.info().sharing;
  key.key = key.origin == TKDC_ORIGIN_DRAWN ? context.protocol.random(key_bytes_of(key.enctype))
                                            : std::move(input);
  context.staged.put(request.key.id, std::move(key));
  co_return JobOutcome();
}

Task<JobOutcome> export_once(ManagementContext context, const JobRequest& request) {
  StagedKey* key = context.staged.find(request.key.id);
  key->exported = true;
  co_return JobOutcome(key->key);
}

std::string text_of(const MacFindings& findings, const KeyRecord& record, ShareAlarm& alarm) {
  return alarm.raise(record, findings) + "; nothing was stored";
}

// The record's MACs, audited, for prepare() to write beside it. The same outcome at all three.
Task<JobOutcome> authenticate(ManagementContext context, KeyRecord& record) {
  const Result<void> ready = co_await context.macs->ready();
  if (!ready.ok()) co_return refuse(TKDC_STATUS_INTERNAL, ready.error().message);
  MacSubject subject = mac_subject(record);
  const MacFindings findings = co_await context.macs->deal(std::span(&subject, 1));
  if (!findings.good())
    co_return refuse(TKDC_STATUS_INTERNAL, text_of(findings, record, context.alarm));
  record.macs = std::make_shared<const MacRow>(context.macs->row_of(record, std::move(subject)));
  co_return JobOutcome();
}

Task<JobOutcome> bind(ManagementContext context, const JobRequest& request) {
  StagedKey staged = std::move(*context.staged.find(request.key.id));
  context.staged.erase(request.key.id);
  KeyRecord record;
  record.ref = request.key;
  record.principal_name = bound_name(request);
  record.key_class = *classify_principal(record.principal_name);
  record.origin = staged.origin;
  record.sharing = staged.sharing;
  record.exported = staged.exported;
  record.created_at_s = context.created_at_s;
  co_await derive_fields(context.protocol, record, std::move(staged.key));
  co_await context.protocol.verified();
  if (context.macs != nullptr) {
    JobOutcome dealt = co_await authenticate(context, record);
    if (dealt.status != TKDC_STATUS_OK) co_return dealt;
  }

  Phases phases;
  phases.first = [&] { return context.store.prepare(record); };
  phases.undo = [&] { return context.store.abandon(record.ref.id); };
  phases.second = [&] { return context.store.commit(record.ref.id); };
  co_return co_await in_two_phases(context.lane, phases, "store", "stored");
}

Task<JobOutcome> destroy(ManagementContext context, const JobRequest& request) {
  const KeyId& id = request.key.id;
  if (context.staged.find(id) != nullptr) {
    context.staged.erase(id);
    co_return JobOutcome();
  }
  DroppedTable* const dropped = context.dropped.kept ? context.store.dropped() : nullptr;
  Phases phases;
  phases.first = [&] {
    return dropped != nullptr ? dropped->condemn_to_drop(id, context.created_at_s)
                              : context.store.condemn(id);
  };
  phases.undo = [&] { return context.store.pardon(id); };
  phases.second = [&] { return context.store.destroy(id); };
  // What allowed it back before is over, also where the handshake settled that.
  if (context.dropped.given_back) context.dropped.given_back(id);
  co_return co_await in_two_phases(context.lane, phases, "remove", "removed");
}

// A dropped key goes for good, or comes back.
Task<JobOutcome> change_dropped(ManagementContext context, const JobRequest& request) {
  const KeyId& id = request.key.id;
  const bool purge = request.op == TKDC_OP_PURGE;
  Phases phases;
  phases.first = [&] {
    return context.store.dropped()->prepare_change(
        id, purge ? DroppedChange::kPurge : DroppedChange::kGiveBack);
  };
  phases.undo = [&] { return context.store.abandon(id); };
  phases.second = [&] { return context.store.commit(id); };
  JobOutcome outcome = co_await in_two_phases(context.lane, phases, purge ? "purge" : "give back",
                                              purge ? "purged" : "given back");
  if (!purge && outcome.status == TKDC_STATUS_OK && context.dropped.given_back)
    context.dropped.given_back(id);
  co_return outcome;
}

tkdc_status check_dropped(Store& store, const JobRequest& request, const MayGiveBack& may) {
  if (store.dropped() == nullptr) return TKDC_STATUS_UNKNOWN_KEY;
  auto record = store.dropped()->dropped_record(request.key.id);
  if (!record) return TKDC_STATUS_INTERNAL;
  if (*record == nullptr || (*record)->ref != request.key) return TKDC_STATUS_UNKNOWN_KEY;
  if (request.op == TKDC_OP_PURGE) return TKDC_STATUS_OK;
  return may && may(**record) ? TKDC_STATUS_OK : TKDC_STATUS_DENIED;
}

}  // namespace

tkdc_status check_management(StagedKeys& staged, Store& store, AgentRole role,
                             const JobRequest& request, const MayGiveBack& may_give_back) {
  if (!may_manage(role, request.op)) return TKDC_STATUS_DENIED;
  if (request.op == TKDC_OP_STAGE) return check_stage(staged, store, request);
  if (request.input_bytes() != 0) return TKDC_STATUS_BAD_REQUEST;
  if (request.op == TKDC_OP_DESTROY) {
    // After it no BIND can keep the key, not even one that was asked before and waits.
    if (staged.find(request.key.id) != nullptr) return TKDC_STATUS_OK;
    auto record = store.get(request.key.id);
    if (!record) return TKDC_STATUS_INTERNAL;
    if (*record == nullptr) return TKDC_STATUS_UNKNOWN_KEY;
    return (*record)->ref == request.key ? TKDC_STATUS_OK : TKDC_STATUS_UNKNOWN_KEY;
  }
  if (request.op == TKDC_OP_EQUAL) return check_equal(staged, store, request);
  if (request.op == TKDC_OP_PURGE || request.op == TKDC_OP_GIVE_BACK)
    return check_dropped(store, request, may_give_back);
  StagedKey* key = staged.find(request.key.id);
  if (key == nullptr || key->agent != request.name.agent) return TKDC_STATUS_UNKNOWN_KEY;
  if (request.op == TKDC_OP_BIND) return check_bind(*key, request);
  // An agent of three servers asks by the id alone.
  const bool named = request.key.enctype != 0;
  if (named && request.key.enctype != key->enctype) return TKDC_STATUS_BAD_REQUEST;
  const bool in_time = StagedKey::Clock::now() - key->since <= StagedKey::kExportWindow;
  const bool may_export = key->origin == TKDC_ORIGIN_DRAWN && !key->exported && in_time;
  return may_export ? TKDC_STATUS_OK : TKDC_STATUS_DENIED;
}

namespace {

Task<JobOutcome> start(ManagementContext context, const JobRequest& request, SharedBytes input) {
  switch (request.op) {
    case TKDC_OP_STAGE: return stage(context, request, std::move(input));
    case TKDC_OP_EXPORT: return export_once(context, request);
    case TKDC_OP_BIND: return bind(context, request);
    case TKDC_OP_EQUAL: return run_equal(context, request);
    case TKDC_OP_PURGE:
    case TKDC_OP_GIVE_BACK: return change_dropped(context, request);
    default: return destroy(context, request);
  }
}

}  // namespace

std::vector<KeyId> keys_at_work(const JobRequest& request) {
  std::vector<KeyId> keys{request.key.id};
  if (request.op == TKDC_OP_EQUAL)
    if (auto other = compared_key(request)) keys.push_back(*other);
  return keys;
}

Task<JobOutcome> run_management(ManagementContext context, const JobRequest& request,
                                SharedBytes input) {
  // It may send nothing that is verified, and yet change the store or yield a key.
  co_await context.lane.agreed();
  co_return co_await start(context, request, std::move(input));
}

JobCost cost_of_management(tkdc_wire_op op) {
  return op == TKDC_OP_EQUAL ? cost_of_equal() : JobCost();
}

}  // namespace tkdc
