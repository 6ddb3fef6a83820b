// SPDX-License-Identifier: Apache-2.0
#include "agent/combine.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "base/now_public.h"

namespace tkdc::agent {
namespace {

std::size_t count(std::span<const JobReply, 3> replies, tkdc_status status) {
  return static_cast<std::size_t>(std::count_if(
      replies.begin(), replies.end(), [&](const JobReply& r) { return r.status == status; }));
}

std::string said_by(std::size_t party, const JobReply& reply) {
  return "server " + std::to_string(party) + ": " +
         (reply.message.empty() ? tkdc_status_text(static_cast<std::uint16_t>(reply.status))
                                : reply.message);
}

// Honest servers come to one verdict on a job. Late or out of order can each be for itself.
bool is_verdict(tkdc_status status) {
  return status != TKDC_STATUS_UNAVAILABLE && status != TKDC_STATUS_INTERNAL;
}

// Who answers otherwise than the two others; none: no two agree.
std::optional<std::size_t> odd_one(std::span<const JobReply, 3> replies) {
  for (std::size_t party = 0; party < 3; ++party)
    if (replies[(party + 1) % 3].status == replies[(party + 2) % 3].status) return party;
  return std::nullopt;
}

Outcome fault(tkdc_status status, std::span<const JobReply, 3> replies,
              std::optional<std::size_t> whose) {
  Outcome outcome =
      failure(status, explain_all(replies) +
                          (whose ? ": server " + std::to_string(*whose) + " is faulty or changed"
                                 : ": one of them is faulty or changed; compare their "
                                   "audit logs"));
  outcome.fault = true;
  return outcome;
}

// What to tell when not all three say OK. What two say is the word of an honest one. A refusal by
// one alone fails the job and nothing else: it could have a remembered password taken for
// forgotten, or every account locked. An honest OK comes after the servers have compared what they
// decided, so all honest ones have it, but for one that was too late: whoever contradicts two of
// them, or says OK against two refusals, is not honest.
Outcome refusal(std::span<const JobReply, 3> replies) {
  const std::size_t done = count(replies, TKDC_STATUS_OK);
  if (const auto odd = odd_one(replies)) {
    const tkdc_status most = replies[(*odd + 1) % 3].status, lone = replies[*odd].status;
    if (done == 2 && is_verdict(lone)) return fault(TKDC_STATUS_INCONSISTENT, replies, odd);
    if (done == 1 && is_verdict(most)) return fault(most, replies, odd);
    const bool contradicts = is_verdict(lone) && lone != most;
    if (done == 0 && is_verdict(most))
      return contradicts ? fault(most, replies, std::nullopt)
                         : failure(most, explain(replies, most));
  }
  const auto refuses = [](const JobReply& r) { return tkdc_status_is_refusal(r.status); };
  if (done > 0 && std::ranges::any_of(replies, refuses))
    return fault(TKDC_STATUS_INCONSISTENT, replies, std::nullopt);
  for (tkdc_status status :
       {TKDC_STATUS_INCONSISTENT, TKDC_STATUS_LIMIT, TKDC_STATUS_INTERNAL, TKDC_STATUS_UNAVAILABLE})
    if (count(replies, status) > 0) return failure(status, explain(replies, status));
  return fault(TKDC_STATUS_INCONSISTENT, replies, std::nullopt);
}

Outcome reassemble(std::span<JobReply, 3> replies, std::size_t min_bytes, std::size_t max_bytes) {
  std::size_t bytes = replies[0].output.size();
  for (std::size_t party = 0; party < 3; ++party) {
    const JobReply& holder = replies[party];
    if (holder.output.size() != bytes || bytes < min_bytes || bytes > max_bytes)
      return failure(TKDC_STATUS_INCONSISTENT, "server " + std::to_string(party) +
                                                   " answered with an output of " +
                                                   std::to_string(holder.output.size()) +
                                                   " octets; restart the server that "
                                                   "runs another version");
    std::size_t witness = (party + 2) % 3;
    Digest digest = output_digest(holder.output);
    now_public(digest.data(), digest.size());
    now_public(replies[witness].next_output.data(), digest.size());
    if (sodium_memcmp(digest.data(), replies[witness].next_output.data(), digest.size()) != 0)
      return failure(TKDC_STATUS_INCONSISTENT,
                     "servers " + std::to_string(party) + " and " + std::to_string(witness) +
                         " differ in an output component: one of them is faulty or changed; "
                         "compare their audit logs before trusting either");
  }
  Outcome outcome;
  outcome.output = std::move(replies[0].output);
  for (std::size_t i = 0; i < bytes; ++i)
    outcome.output[i] ^= replies[1].output[i] ^ replies[2].output[i];
  return outcome;
}

}  // namespace

// One that only passes on what another found has no reason, or the status's own words.
std::string explain(std::span<const JobReply> replies, tkdc_status status) {
  const std::string general = tkdc_status_text(static_cast<std::uint16_t>(status));
  std::string text;
  for (std::size_t party = 0; party < replies.size(); ++party) {
    const JobReply& reply = replies[party];
    if (reply.status != status || reply.message.empty() || reply.message == general) continue;
    text += (text.empty() ? "" : "; ") + said_by(party, reply);
  }
  return text.empty() ? general : text;
}

std::string explain_all(std::span<const JobReply> replies) {
  std::string text;
  for (std::size_t party = 0; party < replies.size(); ++party)
    text += (party == 0 ? "" : "; ") + said_by(party, replies[party]);
  return text;
}

JobCost total_cost(std::span<const JobReply> replies) {
  JobCost cost;
  for (const JobReply& reply : replies) {
    cost.rounds = std::max(cost.rounds, reply.cost.rounds);
    cost.message_bytes = std::max(cost.message_bytes, reply.cost.message_bytes);
    cost.aes_blocks = std::max(cost.aes_blocks, reply.cost.aes_blocks);
    cost.sha1_blocks = std::max(cost.sha1_blocks, reply.cost.sha1_blocks);
    cost.sha2_blocks = std::max(cost.sha2_blocks, reply.cost.sha2_blocks);
  }
  return cost;
}

Outcome failure(tkdc_status status, std::string message) {
  Outcome outcome;
  outcome.status = status;
  outcome.message = std::move(message);
  return outcome;
}

Outcome combine_lists(std::span<JobReply> replies) {
  for (const JobReply& reply : replies)
    if (reply.status != TKDC_STATUS_OK) return failure(reply.status, explain_all(replies));
  // Those that say the same as each one does; of two servers that differ each is alone.
  std::vector<std::size_t> alike;
  for (const JobReply& one : replies)
    alike.push_back(
        static_cast<std::size_t>(std::ranges::count_if(replies, [&](const JobReply& reply) {
          return std::ranges::equal(one.output, reply.output);
        })));
  const std::size_t most = std::ranges::max(alike);
  if (most < replies.size()) {
    const auto odd = std::ranges::min_element(alike) - alike.begin();
    return failure(
        TKDC_STATUS_INCONSISTENT,
        "the servers do not list the same keys: one is being made or removed just now, or " +
            (most > 1 ? "server " + std::to_string(odd) + " holds others than the two others"
                      : std::string("each of them holds others")));
  }
  Outcome outcome;
  outcome.output = std::move(replies[0].output);
  return outcome;
}

Outcome joint_outcome(std::span<JobReply, 3> replies, std::size_t min_bytes,
                      std::size_t max_bytes) {
  Outcome outcome = count(replies, TKDC_STATUS_OK) == 3 ? reassemble(replies, min_bytes, max_bytes)
                                                        : refusal(replies);
  outcome.cost = total_cost(replies);
  return outcome;
}

}  // namespace tkdc::agent
