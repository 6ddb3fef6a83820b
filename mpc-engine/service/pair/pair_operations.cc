// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_operations.h"

#include "enctype.h"
#include "service/admit/policy.h"
#include "service/pair/pair_by_tables.h"

namespace tkdc {

void note_proved(const PairAtWork& at_work, const PairJob& of) {
  if (of.kinds.empty()) return;
  for (const std::string& kind : of.kinds) at_work.proved.note(kind);
  const JobRequest& request = of.job->request;
  const tkdc_wire_op op = of.derivation ? operation_of(request.op) : request.op;
  const bool seals = op == TKDC_OP_SEAL;
  if (!seals && (op != TKDC_OP_MAC || of.derivation)) return;  // no VERIFY_DERIVED
  const std::size_t bytes = of.pad_bytes + (seals ? 0 : of.input_bytes);
  const KeyRecord& record = of.derivation ? of.derivation->shape : *of.job->found.record;
  const auto whole = whole_of(record, seals ? TKDC_OP_OPEN : TKDC_OP_VERIFY, request.usage, bytes);
  if (whole) at_work.proved.note(answer_kind(whole->circuit));
}

// PA-ENC-TS-ENC (RFC 4120, section 5.2.7.2): without microseconds, and with one to three octets of
// them.
void prove_what_all_send(PairProved& proved) {
  for (const std::uint32_t enctype : {17u, 18u, 19u, 20u}) {
    const std::string number = std::to_string(enctype);
    for (const std::size_t plain : {21u, 26u, 27u, 28u})
      proved.always(answer_kind("open" + number + ":" +
                                std::to_string(plain + tkdc_enctype_of(enctype)->overhead_bytes)));
    proved.always(answer_kind("prf-plus" + number + (enctype > 18 ? ":1" : "")));
    proved.always(answer_kind("fast-encryption" + number + ":" +
                              std::to_string(usage::kChallengeFromClient)));
  }
}

SharedBytes answer_of(const pair::Bits& bits) {
  SharedBytes out;
  const Bytes octets = pair::packed(bits);
  out.component[0].assign(octets.begin(), octets.end());
  return out;
}

JobReply deal_again(const JobRequest& request, const pair::Label& session) {
  JobReply reply;
  reply.run = request.name.run;
  reply.number = request.name.number;
  reply.status = TKDC_STATUS_DEAL_AGAIN;
  reply.message = tkdc_status_text(TKDC_STATUS_DEAL_AGAIN);
  const auto* id = reinterpret_cast<const std::uint8_t*>(&session);
  reply.output.assign(id, id + sizeof session);
  return reply;
}

JobOutcome unavailable(const Error& why) { return {TKDC_STATUS_UNAVAILABLE, why.message}; }

namespace {

// What the circuit takes of the record.
Result<std::vector<pair::Held>> stored_keys(const PairAtWork& at_work, const PairJob& of,
                                            const PairKind& kind) {
  std::vector<pair::Held> out;
  for (std::size_t k = 0; k < of.whole.held.size(); ++k) {
    auto part =
        at_work.records.part(*of.job->found.record, of.whole.held[k].field, kind.input_bits[k]);
    if (!part) return at_work.session.end(part.error().message, pair::EndedBy::kState);
    out.push_back(std::move(*part));
  }
  return out;
}

// A session that it ends has ended at this key, as one that prepares it between jobs.
Result<void> bridge_for_job(const PairAtWork& at_work, const KeyRecord& record) {
  at_work.attempt.ids = {record.ref.id};
  auto bridged = at_work.records.bridge(record);
  if (bridged || at_work.session.stands()) at_work.attempt.ids.clear();
  return bridged;
}

JobOutcome outcome_of(const PairJob& of, const Result<PairOutput>& out) {
  if (!out) return {TKDC_STATUS_INCONSISTENT, out.error().message};
  if (of.whole.holds && out->bare.front() != 1)
    return {TKDC_STATUS_INTEGRITY, tkdc_status_text(TKDC_STATUS_INTEGRITY)};
  return JobOutcome(answer_of(out->rest));
}

}  // namespace

JobOutcome run_pair_operation(const PairAtWork& at_work, PairJob& of, PairHeld held) {
  const KeyRecord& record = *of.job->found.record;
  if (held == PairHeld::kNothing)
    if (auto bridged = bridge_for_job(at_work, record); !bridged)
      return unavailable(bridged.error());
  if (of.goes_by_tables) return outcome_of(of, compute_by_tables(at_work, of));
  auto kind = at_work.circuits.get(of.kinds.back());
  if (!kind) return unavailable(at_work.session.end(kind.error().message, pair::EndedBy::kState));
  auto keys = of.derivation
                  ? derive_once(at_work, record, *of.derivation,
                                std::exchange(of.half, std::nullopt), held == PairHeld::kPrf)
                  : stored_keys(at_work, of, **kind);
  if (!keys) return {TKDC_STATUS_INCONSISTENT, keys.error().message};
  pair::Inputs inputs(std::move(of.dealt));
  for (const pair::Held& one : *keys) inputs.held(one);
  inputs.random(8 * of.whole.confounder).dealt(8 * (of.input_bytes + of.pad_bytes));
  return outcome_of(of, compute_pair(at_work, *kind, inputs));
}

}  // namespace tkdc
