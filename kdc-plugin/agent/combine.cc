// SPDX-License-Identifier: Apache-2.0
#include "agent/combine.h"

#include <algorithm>
#include <initializer_list>

#include "base/now_public.h"

namespace tkdc::agent {
namespace {

std::size_t count(const std::array<JobReply, 3>& replies, tkdc_status status) {
  return static_cast<std::size_t>(std::count_if(
      replies.begin(), replies.end(), [&](const JobReply& r) { return r.status == status; }));
}

std::string explain(const std::array<JobReply, 3>& replies, tkdc_status status) {
  std::string text;
  for (std::size_t party = 0; party < 3; ++party) {
    if (replies[party].status != status) continue;
    if (!text.empty()) text += "; ";
    text += "server " + std::to_string(party) + ": " +
            (replies[party].message.empty() ? tkdc_status_text(static_cast<std::uint16_t>(status))
                                            : replies[party].message);
  }
  return text;
}

// What to tell when not all three say OK. One server may refuse on its own
// (each enforces the roles by itself), but "no such key" and "wrong key" count
// only from two: otherwise one faulty server could have a remembered password
// taken for forgotten, or every account locked.
Outcome refusal(const std::array<JobReply, 3>& replies) {
  if (count(replies, TKDC_STATUS_DENIED) > 0)
    return failure(TKDC_STATUS_DENIED, explain(replies, TKDC_STATUS_DENIED));
  for (tkdc_status status : {TKDC_STATUS_UNKNOWN_KEY, TKDC_STATUS_INTEGRITY})
    if (count(replies, status) >= 2 && count(replies, TKDC_STATUS_OK) == 0)
      return failure(status, explain(replies, status));
  for (tkdc_status status : {TKDC_STATUS_BAD_REQUEST, TKDC_STATUS_INCONSISTENT, TKDC_STATUS_LIMIT,
                             TKDC_STATUS_INTERNAL, TKDC_STATUS_UNAVAILABLE})
    if (count(replies, status) > 0) return failure(status, explain(replies, status));
  std::string who = explain(replies, TKDC_STATUS_UNKNOWN_KEY);
  if (who.empty()) who = explain(replies, TKDC_STATUS_INTEGRITY);
  return failure(TKDC_STATUS_INCONSISTENT,
                 "the servers disagree about a key (" + who + "); compare their audit logs");
}

JobCost total_cost(const std::array<JobReply, 3>& replies) {
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

Outcome reassemble(std::array<JobReply, 3>& replies, std::size_t min_bytes, std::size_t max_bytes) {
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

Outcome failure(tkdc_status status, std::string message) {
  Outcome outcome;
  outcome.status = status;
  outcome.message = std::move(message);
  return outcome;
}

Outcome combine(std::array<JobReply, 3>& replies, std::size_t min_bytes, std::size_t max_bytes) {
  Outcome outcome = count(replies, TKDC_STATUS_OK) == 3 ? reassemble(replies, min_bytes, max_bytes)
                                                        : refusal(replies);
  outcome.cost = total_cost(replies);
  return outcome;
}

}  // namespace tkdc::agent
