// SPDX-License-Identifier: Apache-2.0
// What differs between a realm on three servers and one on two: how an operation is shared out to
// them, and how their answers become one.
//
// The agent's thread only. Secret: inputs, pads, shares, outputs.
#pragma once

#include <optional>
#include <vector>

#include "agent/combine.h"
#include "agent/operation.h"

namespace tkdc::agent {

class Sharing {
 public:
  virtual ~Sharing() = default;
  // Once, before it is asked the first time: fits a client's operation to these servers. An
  // outcome: it is refused.
  virtual std::optional<Outcome> fit(Operation& operation) = 0;
  // A frame for each server. `job` is operation.job under a name, with what time is left.
  virtual std::vector<SecretVector> share_out(JobRequest job, Operation& operation) = 0;
  // All servers have answered; their outputs are consumed. DEAL_AGAIN: nothing was done, and the
  // same operation is to be shared out once more, under a new number.
  virtual Outcome put_together(std::span<JobReply> replies, const Operation& operation) = 0;
};

}  // namespace tkdc::agent
