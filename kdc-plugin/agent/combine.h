// SPDX-License-Identifier: Apache-2.0
// Three servers' replies to one job become one answer.
//
// Server i returns y_i in full and the digest of y_{i+1}. The answer is OK
// only when all three say so and each y_i has the digest that server i-1 gives
// for it: one server alone cannot change an output without being noticed. A refusal is what two
// servers say; one that says otherwise is named as faulty.
#pragma once

#include <span>
#include <string>

#include "service/wire/message.h"

namespace tkdc::agent {

struct Outcome {
  tkdc_status status = TKDC_STATUS_OK;
  std::string message;  // for the administrator; empty when OK
  bool fault = false;   // a server is faulty or changed: message says which
  SecretVector output;
  JobCost cost;
};

Outcome failure(tkdc_status status, std::string message);

// Of any number of servers. What each says; the causes that those know who answer with `status`;
// what the job cost.
std::string explain_all(std::span<const JobReply> replies);
std::string explain(std::span<const JobReply> replies, tkdc_status status);
JobCost total_cost(std::span<const JobReply> replies);

// Pages of keys, of any number of servers: all have to say the same.
Outcome combine_lists(std::span<JobReply> replies);

// Consumes the outputs. `min_bytes` and `max_bytes` bound a good output.
Outcome joint_outcome(std::span<JobReply, 3> replies, std::size_t min_bytes, std::size_t max_bytes);

}  // namespace tkdc::agent
