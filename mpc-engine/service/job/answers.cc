// SPDX-License-Identifier: Apache-2.0
#include "service/job/answers.h"

#include <nlohmann/json.hpp>

#include "base/hex.h"
#include "base/log.h"
#include "service/admit/policy.h"
#include "service/job/job_checks.h"
#include "service/lifecycle/management.h"
#include "service/operation/operations.h"
#include "service/wire/request_id.h"

namespace tkdc {
namespace {

constexpr const char* kUnheralded = "login reply without preauthentication";
constexpr const char* kMayBeKnown =
    "failed when the other server may have had its result, and its agent, too";
constexpr const char* kUnheraldedMayBeKnown =
    "login reply without preauthentication, which failed when the other server may have had it, "
    "and its agent, too";
constexpr const char* kLate = "finished after its deadline";
constexpr const char* kRevoked = "ticket of a revoked window";

// Empty where another server has the reason: the agent tells that one's.
std::string refusal_message(const Job& job, tkdc_status status) {
  constexpr auto kMissingHere =
      "this server holds no such key, which no other server says: it has expired or was removed a "
      "moment ago; or this server's store is damaged, or was restored from an older copy";
  constexpr auto kRefusedHere =
      "this server refuses it, and no two servers say the same (their configurations or versions "
      "may differ): ";
  if (job.found.own == status && job.found.why != nullptr) return job.found.why;
  const bool here_alone =
      status == TKDC_STATUS_INCONSISTENT && tkdc_status_is_refusal(job.found.own);
  if (here_alone && job.found.own == TKDC_STATUS_UNKNOWN_KEY) return kMissingHere;
  if (here_alone) return kRefusedHere + std::string(tkdc_status_text(job.found.own));
  const bool others_alone = !tkdc_status_is_refusal(status) && status != TKDC_STATUS_INCONSISTENT &&
                            job.found.own != status;
  if (others_alone) return {};
  return tkdc_status_text(status);
}

}  // namespace

void Answers::answer(const JobRequest& request, tkdc_status status, std::string message,
                     const char* note) {
  JobReply reply;
  reply.run = request.name.run;
  reply.number = request.name.number;
  reply.status = status;
  reply.message = std::move(message);
  shared_.counters.answered(status);
  (void)audit(request, status, note);  // a refusal tells nothing that a job yields
  shared_.reply(request.name, std::move(reply));
}

void Answers::refuse(const Job& job, tkdc_status status) {
  // What this server alone says stands in its own log; the others' have what came of it.
  const bool differs = status == TKDC_STATUS_INCONSISTENT && tkdc_status_is_refusal(job.found.own);
  const char* own = differs ? tkdc_status_text(job.found.own) : nullptr;
  answer(job.request, status, refusal_message(job, status), own);
}

const char* Answers::watch(const JobRequest& request, const JobOutcome& outcome) {
  if (outcome.revoked) {
    shared_.counters.tickets_revoked++;
    return kRevoked;
  }
  // A tail's head was watched.
  const bool tail = part_of(request).value_or(Part()).kind == Part::Kind::kTail;
  if ((outcome.status != TKDC_STATUS_OK && !outcome.may_be_known) || tail) return nullptr;
  const bool opened = request.op == TKDC_OP_OPEN || request.op == TKDC_OP_OPEN_DERIVED;
  const bool sealed = request.op == TKDC_OP_SEAL || request.op == TKDC_OP_SEAL_DERIVED;
  if (opened && !outcome.may_be_known &&
      (request.usage == usage::kAsReqTimestamp || request.usage == usage::kChallengeFromClient))
    shared_.preauth.opened(request.key.principal);
  const bool login_reply = sealed && request.usage == usage::kAsRepEncPart;
  const bool unheralded = login_reply && !shared_.preauth.sealed(request.key.principal);
  if (outcome.may_be_known) return unheralded ? kUnheraldedMayBeKnown : kMayBeKnown;
  return unheralded ? kUnheralded : nullptr;
}

bool Answers::audit(const JobRequest& request, tkdc_status status, const char* note,
                    bool head) const {
  nlohmann::json line = {
      {"operation", tkdc_wire_op_name(static_cast<std::uint8_t>(request.op))},
      {"usage", request.usage},
      {"key", to_hex(request.key.id)},
      {"principal", to_hex(ByteSpan(request.key.principal).first(kAuditedPrincipalBytes))},
      {"agent", to_hex({reinterpret_cast<const std::uint8_t*>(&request.name.agent), 8})},
      {"lane", lane_index_},
      {"cohort", cohort_},
      {"result", tkdc_status_text(status)},
  };
  const Part asked = part_of(request).value_or(Part());
  const bool tail = asked.kind == Part::Kind::kTail;
  // Else the key's id says them: they are in the line of its making.
  if (status != TKDC_STATUS_OK || is_management(request.op)) {
    line["kvno"] = request.key.kvno;
    line["enctype"] = request.key.enctype;
  }
  if (head || tail) line["run"] = request.name.run;
  if (head) line["head"] = request.name.number;
  if (tail) line["tail_of"] = asked.head;
  if (request.request_id != 0) line["request"] = request_id_text(request.request_id);
  if (note != nullptr) line["note"] = note;
  return shared_.audit(line.dump());
}

bool Answers::tail_follows(const Job& job, tkdc_status status) const {
  const JobRequest& request = job.request;
  return status == TKDC_STATUS_OK && job.found.record &&
         leaves_tail(*job.found.record, request.op, request.usage, part_in(job, two_parts_),
                     job.running.input_bytes);
}

// Nobody gets what no line says that he got.
void Answers::keep_back(JobReply& reply) {
  reply.status = TKDC_STATUS_UNAVAILABLE;
  reply.message = kUnaudited;
  reply.output = SecretVector();
  reply.next_output = {};
}

void Answers::finish(const Job& job, const Protocol& protocol, JobOutcome outcome,
                     std::uint64_t rounds) {
  const JobRequest& request = job.request;
  JobCost cost;
  if (is_management(request.op))
    cost = cost_of_management(request.op);
  else if (job.found.record)
    cost = cost_of(protocol, *job.found.record, request, job.running.input_bytes,
                   part_in(job, two_parts_));
  cost.rounds = static_cast<std::uint32_t>(rounds);
  const Digest next_output = output_digest(outcome.output.component[1]);
  finish(job, std::move(outcome), cost, next_output);
}

void Answers::finish_by_two(const Job& job, JobOutcome outcome, const JobCost& cost) {
  finish(job, std::move(outcome), cost, Digest{});
}

void Answers::finish(const Job& job, JobOutcome outcome, const JobCost& cost,
                     const Digest& next_output) {
  const JobRequest& request = job.request;
  const char* note = outcome.note != nullptr ? outcome.note : watch(request, outcome);
  figures_.times.add(static_cast<std::uint8_t>(request.op), Job::Clock::now() - job.received,
                     cost.rounds, cost.message_bytes);
  if (job.expired) {
    shared_.counters.jobs_late++;
    (void)audit(request, outcome.status, note != nullptr ? note : kLate,
                tail_follows(job, outcome.status));
    return;
  }
  JobReply reply;
  reply.run = request.name.run;
  reply.number = request.name.number;
  reply.status = outcome.status;
  reply.message = std::move(outcome.message);
  reply.next_output = next_output;
  reply.output = std::move(outcome.output.component[0]);
  reply.cost = cost;
  const LogField about(request_field(request.request_id));
  if (reply.status == TKDC_STATUS_INTERNAL && shared_.options.trouble)
    shared_.options.trouble(reply.message);
  const bool head = tail_follows(job, reply.status);
  if (!audit(request, reply.status, note, head)) keep_back(reply);
  shared_.counters.answered(reply.status);
  if (head && reply.status == TKDC_STATUS_OK) shared_.half_done.answered(request);
  shared_.reply(request.name, std::move(reply));
}

}  // namespace tkdc
