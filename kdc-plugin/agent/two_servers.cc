// SPDX-License-Identifier: Apache-2.0
#include "agent/two_servers.h"

#include <algorithm>

#include "service/wire/recipe.h"

namespace tkdc::agent {
namespace {

constexpr const char* kNotStagedHere =
    "export: the key was not staged through this agent since it started; stage another one";
constexpr const char* kNoPad = "no answer of this operation can have a pad: enctype or length";

void append_bits(pair::Bits& out, ByteSpan octets) {
  const pair::Bits bits = pair::unpacked(octets, 8 * octets.size());
  out.insert(out.end(), bits.begin(), bits.end());
}

// Of the known half that stands before a derived operation's data.
std::size_t half_bytes(const JobRequest& job) {
  const auto by = is_derived(job.op) ? decode_derivation(job.public_data) : std::nullopt;
  return by ? known_half_bytes(*by) : 0;
}

bool same(ByteSpan a, ByteSpan b) { return std::ranges::equal(a, b); }

Outcome fault(std::span<const JobReply> replies, const std::string& what) {
  Outcome outcome = failure(TKDC_STATUS_INCONSISTENT,
                            what + ": one of them is faulty or changed; compare their audit logs");
  outcome.fault = true;
  outcome.cost = total_cost(replies);
  return outcome;
}

bool either_says(std::span<const JobReply> replies, tkdc_status status) {
  return replies[0].status == status || replies[1].status == status;
}

// One of them has begun a session and the other one is about to: neither has done anything.
bool between_sessions(std::span<const JobReply> replies) {
  return std::ranges::all_of(replies,
                             [](const JobReply& reply) {
                               return reply.status == TKDC_STATUS_DEAL_AGAIN ||
                                      reply.status == TKDC_STATUS_UNAVAILABLE;
                             }) &&
         either_says(replies, TKDC_STATUS_DEAL_AGAIN);
}

// Not both say OK. A refusal counts from both: a client hears it, and an account may be locked for
// it. By one alone it fails the job and nothing else, and honest servers never differ in one.
Outcome refusal(std::span<const JobReply> replies) {
  const tkdc_status first = replies[0].status;
  if (first == replies[1].status) return failure(first, explain(replies, first));
  for (tkdc_status status :
       {TKDC_STATUS_INCONSISTENT, TKDC_STATUS_LIMIT, TKDC_STATUS_INTERNAL, TKDC_STATUS_UNAVAILABLE})
    if (either_says(replies, status)) return failure(status, explain_all(replies));
  return fault(replies, explain_all(replies));
}

}  // namespace

std::optional<Outcome> TwoServers::fit(Operation& operation) {
  JobRequest& job = operation.job;
  if (operation.rest) {  // no operation in two parts
    operation.rest.reset();
    job.public_data.clear();
    operation.max_output = operation.min_output;
  }
  if (job.op == TKDC_OP_EXPORT) {
    const auto staged = staged_.find(job.key.id);
    if (staged == staged_.end()) return failure(TKDC_STATUS_UNKNOWN_KEY, kNotStagedHere);
    job.key.enctype = staged->second;
  }
  if (!pad_bytes(job, operation.secret.size())) return failure(TKDC_STATUS_BAD_REQUEST, kNoPad);
  return std::nullopt;
}

// The known half of a derived key enters a circuit of its own, so it is a deal of its own.
std::vector<SecretVector> TwoServers::share_out(JobRequest job, Operation& operation) {
  const SecretVector& input = operation.secret;
  operation.pad.resize(pad_bytes(job, input.size()).value_or(0));
  if (input.empty() && operation.pad.empty()) return std::vector<SecretVector>(2, encode(job));
  if (!operation.pad.empty()) randombytes_buf(operation.pad.data(), operation.pad.size());
  job.dealt_input_bytes = static_cast<std::uint32_t>(input.size());
  const std::size_t half = std::min(input.size(), half_bytes(job));
  std::array<SecretVector, 2> dealt;
  if (half > 0)
    deal_to(dealt, pair::deal_number(job.name.run, job.name.number, pair::DealPart::kHalf),
            ByteSpan(input).first(half), {});
  deal_to(dealt, pair::deal_number(job.name.run, job.name.number, pair::DealPart::kRest),
          ByteSpan(input).subspan(half), operation.pad);
  std::vector<SecretVector> frames;
  for (SecretVector& to : dealt) {
    job.dealt = std::move(to);
    frames.push_back(encode(job));
  }
  return frames;
}

void TwoServers::deal_to(std::array<SecretVector, 2>& servers, const pair::Label& number,
                         ByteSpan input, ByteSpan pad) const {
  pair::Bits secret;
  secret.reserve(8 * (input.size() + pad.size()));
  append_bits(secret, input);
  append_bits(secret, pad);
  const std::array<pair::Dealt, 2> dealt = pair::deal_input(secret, session_, number);
  for (const std::size_t p : {0, 1}) {
    const SecretVector octets = put_dealt(dealt[p]);
    servers[p].insert(servers[p].end(), octets.begin(), octets.end());
  }
}

Outcome TwoServers::put_together(std::span<JobReply> replies, const Operation& operation) {
  const bool done = replies[0].status == TKDC_STATUS_OK && replies[1].status == TKDC_STATUS_OK;
  Outcome outcome = done                        ? take_answers(replies, operation)
                    : between_sessions(replies) ? take_session(replies)
                                                : refusal(replies);
  outcome.cost = total_cost(replies);
  if (outcome.status == TKDC_STATUS_OK) note_staged(operation);
  return outcome;
}

Outcome TwoServers::take_answers(std::span<JobReply> replies, const Operation& operation) {
  const std::size_t bytes = replies[0].output.size();
  if (!same(replies[0].output, replies[1].output))
    return fault(replies, "servers 0 and 1 answer differently, both with OK");
  const bool padded = !operation.pad.empty();
  if (bytes < operation.min_output || bytes > operation.max_output ||
      (padded && bytes != operation.pad.size()))
    return failure(TKDC_STATUS_INCONSISTENT,
                   "the servers answered with an output of " + std::to_string(bytes) +
                       " octets; are agent and servers of the same version?");
  Outcome outcome;
  if (!padded) {
    outcome.output = std::move(replies[0].output);
    return outcome;
  }
  auto output = pair::output_of_both(replies[0].output, replies[1].output, operation.pad);
  if (!output) return fault(replies, output.error().message);
  outcome.output = std::move(output).value();
  return outcome;
}

// One alone cannot name another session than the other one has: then nothing is learned.
Outcome TwoServers::take_session(std::span<const JobReply> replies) {
  const SecretVector& id = replies[0].output;
  const bool both = replies[0].status == replies[1].status && same(id, replies[1].output);
  if (both && id.size() == sizeof session_) std::memcpy(&session_, id.data(), sizeof session_);
  return failure(TKDC_STATUS_DEAL_AGAIN, explain_all(replies));
}

void TwoServers::note_staged(const Operation& operation) {
  const JobRequest& job = operation.job;
  if (job.op != TKDC_OP_STAGE || job.public_data != Bytes{TKDC_ORIGIN_DRAWN}) return;
  staged_in_order_.push_back(job.key.id);
  staged_[job.key.id] = job.key.enctype;
  if (staged_in_order_.size() <= kMostStaged) return;
  staged_.erase(staged_in_order_.front());
  staged_in_order_.pop_front();
}

}  // namespace tkdc::agent
