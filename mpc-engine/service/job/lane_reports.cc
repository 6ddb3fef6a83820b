// SPDX-License-Identifier: Apache-2.0
// What a lane says of its jobs: answers to agents, lines of the audit log, counters.
#include <nlohmann/json.hpp>

#include "base/hex.h"
#include "service/admit/policy.h"
#include "service/job/lane_runner.h"

namespace tkdc {
namespace {

constexpr const char* kUnheralded = "login reply without preauthentication";
constexpr const char* kLate = "finished after its deadline";
constexpr const char* kRevoked = "ticket of a revoked window";

}  // namespace

std::string LaneRunner::limit_message(const Candidate& candidate) {
  const std::optional<RateVerdict>& rate = candidate.job->rate;
  if (candidate.clock_wrong)
    return "this server's clock is more than two minutes off server 0's, so it takes no time of "
           "sealing: set it, and run NTP on all three (tkdc status)";
  if (rate == RateVerdict::kAgentTooOften)
    return "this agent asks more often than limits.agent_per_s of this server allows";
  if (rate == RateVerdict::kKeyTooOften)
    return "this key is asked for more often than limits.user_key_per_s or "
           "limits.service_key_per_s of this server allows";
  return "a limit was reached: an agent or a key was asked for too often at another server "
         "(its limits; see tkdc status), or staged keys are full, or this server's clock is more "
         "than two minutes off the others' (run NTP on all three), or the key has sealed 2^38 "
         "tickets (tkdc status; draw a new krbtgt key), or the principal's keys were compared too "
         "often (password history; wait), or this agent has left too many operations half done";
}

void LaneRunner::answer(const JobRequest& request, tkdc_status status, std::string message) {
  JobReply reply;
  reply.session = request.name.session;
  reply.number = request.name.number;
  reply.status = status;
  reply.message = std::move(message);
  shared_.counters.answered(status);
  audit(request, status);
  shared_.reply(request.name, std::move(reply));
}

// Jobs that have been taken from the pending ones and not been answered.
template <class Visit>
void LaneRunner::for_each_taken(Visit visit) {
  for (ActiveJob& job : active_)
    if (!job.answered && !job.job->expired) visit(*job.job);
  for (auto* round : {&claims_, &verdicts_})
    if (*round)
      for (Candidate& candidate : (*round)->candidates)
        if (candidate.job && !candidate.job->expired) visit(*candidate.job);
}

// A job cannot be taken out of the lane: the three servers' clocks differ, and a server that left
// it out a round earlier than the others would send packets of another length. So it runs to its
// end, its agent is told now, and what it yields later goes nowhere.
void LaneRunner::expire() {
  const auto now = Clock::now();
  for_each_taken([&](PendingJob& job) {
    if (job.deadline > now) return;
    job.expired = true;
    answer(job.request, TKDC_STATUS_UNAVAILABLE,
           "the job was still running at its deadline; see `tkdc status` for the servers' load");
  });
}

std::optional<LostCheck> LaneRunner::give_up() {
  for_each_taken([&](PendingJob& job) {
    job.expired = true;
    answer(job.request, TKDC_STATUS_UNAVAILABLE, "the session between the servers ended");
  });
  if (rep3_.deviation() || rep3_.claims() == nullptr || !rep3_.claims()->checking())
    return std::nullopt;
  LostCheck lost{std::nullopt, ciphers_.verifier.opened() > 0};
  // Whose packet was not what it has to be. A connection that was lost is nobody's.
  const auto& failure = ticker_.failure();
  if (failure && failure->whose && !failure->connection)
    lost.party = (party_ + (*failure->whose == Neighbour::kNext ? 1 : 2)) % 3;
  return lost;
}

const char* LaneRunner::watch(const JobRequest& request, const JobOutcome& outcome) {
  if (outcome.revoked) {
    shared_.counters.tickets_revoked++;
    return kRevoked;
  }
  // A tail's head was watched.
  const bool tail = part(request).kind == Part::Kind::kTail;
  if (outcome.status != TKDC_STATUS_OK || tail) return nullptr;
  const bool opened = request.op == TKDC_OP_OPEN || request.op == TKDC_OP_OPEN_DERIVED;
  const bool sealed = request.op == TKDC_OP_SEAL || request.op == TKDC_OP_SEAL_DERIVED;
  if (opened &&
      (request.usage == usage::kAsReqTimestamp || request.usage == usage::kChallengeFromClient))
    shared_.preauth.opened(request.key.principal);
  const bool login_reply = sealed && request.usage == usage::kAsRepEncPart;
  return login_reply && !shared_.preauth.sealed(request.key.principal) ? kUnheralded : nullptr;
}

void LaneRunner::audit(const JobRequest& request, tkdc_status status, const char* note,
                       bool head) const {
  nlohmann::json line = {
      {"operation", tkdc_wire_op_name(static_cast<std::uint8_t>(request.op))},
      {"usage", request.usage},
      {"key", to_hex(request.key.id)},
      {"kvno", request.key.kvno},
      {"enctype", request.key.enctype},
      {"principal", to_hex(request.key.principal)},
      {"agent", to_hex({reinterpret_cast<const std::uint8_t*>(&request.name.agent), 8})},
      {"lane", lane_},
      {"cohort", cohort_},
      {"result", tkdc_status_text(status)},
  };
  const Part asked = part(request);
  const bool tail = asked.kind == Part::Kind::kTail;
  if (head || tail) line["session"] = request.name.session;  // the agent's
  if (head) line["head"] = request.name.number;
  if (tail) line["tail_of"] = asked.head;
  if (note != nullptr) line["note"] = note;
  shared_.audit(line.dump());
}

void LaneRunner::publish_counters() {
  LaneCounters& c = shared_.counters;
  c.rounds++;
  c.cohorts += cohort_ - published_cohorts_;
  c.operation_rounds += active_.size();
  c.layer_bytes += rep3_.layer_bytes() - published_bytes_;
  c.aes_blocks += ciphers_.aes.blocks() - published_aes_;
  c.masked_blocks += ciphers_.aes.masked_blocks() - published_masked_;
  c.masks_made += pool_.made() - published_masks_;
  c.sha1_blocks += ciphers_.sha1.blocks() - published_sha1_;
  const std::uint64_t sha2 = ciphers_.sha256.blocks() + ciphers_.sha384.blocks();
  c.sha2_blocks += sha2 - published_sha2_;
  published_bytes_ = rep3_.layer_bytes();
  published_aes_ = ciphers_.aes.blocks();
  published_masked_ = ciphers_.aes.masked_blocks();
  published_masks_ = pool_.made();
  published_sha1_ = ciphers_.sha1.blocks();
  published_sha2_ = sha2;
  published_cohorts_ = cohort_;
}

void LaneRunner::finish(ActiveJob& job, JobOutcome outcome) {
  const JobRequest& request = job.job->request;
  if (job.holds_key) let_go(request);
  job.answered = true;
  ++answered_;
  const char* note = outcome.note != nullptr ? outcome.note : watch(request, outcome);
  if (job.job->expired) {
    shared_.counters.jobs_late++;
    return audit(request, outcome.status, note != nullptr ? note : kLate,
                 tail_follows(job, outcome.status));
  }
  JobReply reply;
  reply.session = request.name.session;
  reply.number = request.name.number;
  reply.status = outcome.status;
  reply.message = std::move(outcome.message);
  reply.next_output = output_digest(outcome.output.component[1]);
  reply.output = std::move(outcome.output.component[0]);
  if (is_management(request.op))
    reply.cost = cost_of_management(request.op);
  else if (job.record)
    reply.cost = cost_of(*job.record, request, job.input_bytes, part(request));
  reply.cost.rounds = static_cast<std::uint32_t>(rep3_.rounds() - job.first_round);
  shared_.counters.answered(reply.status);
  const bool head = tail_follows(job, reply.status);
  if (head) shared_.half_done.answered(request);
  audit(request, reply.status, note, head);
  shared_.reply(request.name, std::move(reply));
}

}  // namespace tkdc
