// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_management.h"

#include <functional>

#include "enctype.h"
#include "service/admit/policy.h"
#include "service/lifecycle/equal.h"
#include "service/operation/keys.h"

namespace tkdc {
namespace {

using pair::kBlockBits;
using pair::Label;

constexpr const char* kKeyField = "key";
constexpr const char* kPoolsFull =
    "two servers keep no more pools than they have, and new keys need another one: destroy keys "
    "that are not used any more";
constexpr const char *kEqual = "equal", *kUnequal = "not equal";

Label label_of(const std::array<std::uint8_t, 16>& octets) {
  Label out;
  std::memcpy(&out, octets.data(), sizeof out);
  return out;
}
std::array<std::uint8_t, 16> octets_of(const Label& label) {
  std::array<std::uint8_t, 16> out;
  std::memcpy(out.data(), &label, sizeof label);
  return out;
}

std::string sized(const char* name, std::size_t size) {
  return std::string(name) + ":" + std::to_string(size);
}

Bytes staged_name(const KeyId& id) {
  Bytes out;
  Writer writer(out);
  writer.text("staged");
  writer.raw(id);
  return out;
}

}  // namespace

// What a change of both stores consists of, at this server. After the first step nothing has
// changed for good.
struct PairManagement::Phases {
  std::function<Result<void>()> first, undo, second;
};

JobOutcome PairManagement::run(PairJob& of, bool held) {
  switch (of.job->request.op) {
    case TKDC_OP_STAGE: return stage(of);
    case TKDC_OP_EXPORT: return export_once(of);
    case TKDC_OP_BIND: return bind(of);
    case TKDC_OP_EQUAL: return compare(of, held);
    default: return destroy(of);
  }
}

JobOutcome PairManagement::stage(PairJob& of) {
  const JobRequest& request = of.job->request;
  const std::size_t bytes = key_bytes_of(request.key.enctype);
  const std::string& no_room = at_work_.pools.no_room();
  if (at_work_.pools.full()) return {TKDC_STATUS_LIMIT, no_room.empty() ? kPoolsFull : no_room};
  StagedKey key;
  key.origin = request.public_data[0];
  key.kvno = request.key.kvno;
  key.enctype = request.key.enctype;
  key.agent = request.name.agent;
  key.sharing = kPairSharing;
  Result<pair::StoredBlocks> stored = fail("");
  if (key.origin == TKDC_ORIGIN_DRAWN) {
    const std::size_t blocks = pair::blocks_for(8 * bytes);
    auto reserved = at_work_.blocks.need(blocks);
    stored = reserved ? (*reserved)->take(at_work_.session, blocks) : reserved.error();
  } else {
    stored = import_key(of, bytes);
  }
  if (!stored) return unavailable(stored.error());
  key.pool = octets_of(stored->pool);
  key.key = put_blocks(stored->blocks);
  shared_.staged.put(request.key.id, std::move(key));
  return JobOutcome();
}

Result<pair::StoredBlocks> PairManagement::import_key(PairJob& of, std::size_t bytes) {
  auto fresh = at_work_.blocks.fresh(pair::blocks_for(8 * bytes));
  if (!fresh) return fresh.error();
  auto kind = at_work_.circuits.get(store_kind(sized("copy", bytes)));
  if (!kind) return at_work_.session.end(kind.error().message, pair::EndedBy::kState);
  pair::Inputs inputs(std::move(of.dealt));
  inputs.dealt(8 * bytes).held(fresh->take());
  auto d = compute_pair(at_work_, *kind, inputs);
  if (!d) return d.error();
  return fresh->moved_by(at_work_.blocks.pool(), d->rest);
}

Result<pair::Held> PairManagement::staged_bits(const KeyId& id, const StagedKey& key) const {
  return bridge_value(at_work_.session, at_work_.blocks, label_of(key.pool), key.key,
                      staged_name(id));
}

JobOutcome PairManagement::export_once(PairJob& of) {
  const KeyId& id = of.job->request.key.id;
  StagedKey* key = shared_.staged.find(id);
  key->exported = true;  // whatever comes of it
  auto bits = staged_bits(id, *key);
  if (!bits) return unavailable(bits.error());
  auto kind = at_work_.circuits.get(answer_kind(sized("copy", of.pad_bytes)));
  if (!kind) return unavailable(at_work_.session.end(kind.error().message, pair::EndedBy::kState));
  pair::Inputs inputs(std::move(of.dealt));
  inputs.held(*bits).dealt(8 * of.pad_bytes);
  auto out = compute_pair(at_work_, *kind, inputs);
  if (!out) return {TKDC_STATUS_INCONSISTENT, out.error().message};
  return JobOutcome(answer_of(out->rest));
}

JobOutcome PairManagement::compare(PairJob& of, bool held) {
  const JobRequest& request = of.job->request;
  const KeyRecord& record = *of.job->found.record;
  const KeyId other = *compared_key(request);
  StagedKey* staged = shared_.staged.find(other);
  staged->compared_with = request.key.principal;
  shared_.equals.compared(request.key.principal);
  const std::size_t bytes = key_bytes_of(request.key.enctype);
  auto bits = staged_bits(other, *staged);
  if (!bits) return unavailable(bits.error());
  if (!held)
    if (auto bridged = at_work_.records.bridge(record); !bridged)
      return unavailable(bridged.error());
  auto kind = at_work_.circuits.get(answer_kind(sized("equal-keys", bytes)));
  auto key = at_work_.records.part(record, kKeyField, 8 * bytes);
  if (!kind || !key)
    return unavailable(
        at_work_.session.end("a key's record is not as it was stored", pair::EndedBy::kState));
  pair::Inputs inputs;
  inputs.held(*bits).held(*key);
  auto out = compute_pair(at_work_, *kind, inputs);
  if (!out) return unavailable(out.error());
  JobOutcome outcome;
  outcome.output.component[0].assign(1, out->bare.front());
  outcome.note = out->bare.front() == 1 ? kEqual : kUnequal;
  return outcome;
}

// The outputs of one circuit, which are fields of the record, each in blocks of its own.
Result<void> PairManagement::derive_fields(KeyRecord& record, const std::string& circuit,
                                           const pair::Held& source,
                                           const std::vector<std::string>& fields) {
  auto kind = at_work_.circuits.get(store_kind(circuit));
  if (!kind) return at_work_.session.end(kind.error().message, pair::EndedBy::kState);
  auto fresh = at_work_.blocks.fresh((*kind)->pad_bits / kBlockBits);
  if (!fresh) return fresh.error();
  pair::Inputs inputs;
  inputs.held(source).held(fresh->take());
  auto d = compute_pair(at_work_, *kind, inputs);
  if (!d) return d.error();
  auto stored = fresh->moved_by(at_work_.blocks.pool(), d->rest);
  if (!stored) return stored.error();
  auto block = stored->blocks.begin();
  const auto& outputs = (*kind)->circuit.schedule.outputs;
  for (std::size_t k = 0; k < fields.size(); ++k) {
    const auto end = block + static_cast<std::ptrdiff_t>(pair::blocks_for(outputs[k].bits));
    record.fields[fields[k]] = put_blocks(pair::AuthBlocks(block, end));
    block = end;
  }
  return {};
}

// RFC 8009 derives from the base key's pad states, which its PRF starts from too: they are stored,
// and bridged for what is derived from them.
Result<void> PairManagement::derive(KeyRecord& record, const StagedKey& staged) {
  const std::string number = std::to_string(record.ref.enctype);
  const bool sha2 = sha2_enctype(record.ref.enctype) != nullptr;
  auto source = staged_bits(record.ref.id, staged);
  if (!source) return source.error();
  if (sha2 || may_derive(record.key_class)) {
    if (auto made = derive_fields(record, "prf-base" + number, *source, {kPrfField}); !made)
      return made;
  }
  if (sha2) {
    auto stored = bridge_value(at_work_.session, at_work_.blocks, at_work_.blocks.pool().id,
                               record.fields.at(kPrfField), staged_name(record.ref.id));
    if (!stored) return stored.error();
    *source = std::move(*stored);
  }
  const Usages usages = usages_of(record.key_class);
  for (const std::uint32_t one : usages.encryption) {
    const std::string circuit = sized(("derive-encryption" + number).c_str(), one);
    if (auto made =
            derive_fields(record, circuit, *source, {field_name(one, "ke"), field_name(one, "ki")});
        !made)
      return made;
  }
  for (const std::uint32_t one : usages.checksum) {
    const std::string circuit = sized(("derive-checksum" + number).c_str(), one);
    if (auto made = derive_fields(record, circuit, *source, {field_name(one, "kc")}); !made)
      return made;
  }
  return {};
}

JobOutcome PairManagement::bind(PairJob& of) {
  const JobRequest& request = of.job->request;
  const StagedKey staged = std::move(*shared_.staged.find(request.key.id));
  shared_.staged.erase(request.key.id);
  KeyRecord record;
  record.ref = request.key;
  record.principal_name.assign(request.public_data.begin(), request.public_data.end());
  record.key_class = *classify_principal(record.principal_name);
  record.origin = staged.origin;
  record.sharing = kPairSharing;
  record.exported = staged.exported;
  record.created_at_s = wall_s();
  // One pool for all of it: a record is bridged as a whole.
  if (label_of(staged.pool) != at_work_.blocks.pool().id)
    return {TKDC_STATUS_UNAVAILABLE,
            "the servers have made a new pool since this key was staged: stage it again"};
  record.fields[kPoolField] = put_pool(at_work_.blocks.pool().id);
  record.fields[kKeyField] = staged.key;
  if (auto derived = derive(record, staged); !derived) return unavailable(derived.error());
  Phases phases;
  phases.first = [&] { return shared_.store.prepare(record); };
  phases.undo = [&] { return shared_.store.abandon(record.ref.id); };
  phases.second = [&] { return shared_.store.commit(record.ref.id); };
  return in_two_phases(phases, "store");
}

JobOutcome PairManagement::destroy(PairJob& of) {
  const KeyId& id = of.job->request.key.id;
  at_work_.records.forget(id);
  if (shared_.staged.find(id) != nullptr) {
    shared_.staged.erase(id);
    return JobOutcome();
  }
  Phases phases;
  phases.first = [&] { return shared_.store.condemn(id); };
  phases.undo = [&] { return shared_.store.pardon(id); };
  phases.second = [&] { return shared_.store.destroy(id); };
  return in_two_phases(phases, "remove");
}

// By both servers or by none. A store that is left unlike the other one ends the session: what
// begins the next one settles it.
JobOutcome PairManagement::in_two_phases(const Phases& phases, const char* verb) {
  const std::string what = std::string("could not ") + verb + " the key";
  const auto failed = [&](const std::string& who, const Result<void>& why) {
    return JobOutcome(TKDC_STATUS_INTERNAL,
                      who + " server " + what + (why ? "" : ": " + why.error().message));
  };
  const auto half_made = [&](JobOutcome outcome) {
    outcome.ends_session = "keys: " + outcome.message + "; a new session begins, which settles it";
    return outcome;
  };
  ot::Channel& channel = at_work_.session.channel();
  const Result<void> first = phases.first();
  auto everywhere = both_say(channel, first.ok());
  if (!everywhere) return half_made(unavailable(at_work_.session.end(everywhere.error().message)));
  if (!*everywhere) {
    if (!first) return failed("this", first);
    const Result<void> undone = phases.undo();
    return undone ? failed("the other", {}) : half_made(failed("this", undone));
  }
  const Result<void> second = phases.second();
  everywhere = both_say(channel, second.ok());
  if (!everywhere) return half_made(unavailable(at_work_.session.end(everywhere.error().message)));
  if (*everywhere) return JobOutcome();
  return half_made(failed(second ? "the other" : "this", second));
}

}  // namespace tkdc
