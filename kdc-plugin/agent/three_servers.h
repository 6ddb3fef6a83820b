// SPDX-License-Identifier: Apache-2.0
// An agent of three servers: components of an input for each, components of an output from each
// (combine.h). Secret: inputs and components.
#pragma once

#include "agent/share_stream.h"
#include "agent/sharing.h"

namespace tkdc::agent {

class ThreeServers final : public Sharing {
 public:
  std::optional<Outcome> fit(Operation&) override { return std::nullopt; }
  std::vector<SecretVector> share_out(JobRequest job, Operation& operation) override;
  Outcome put_together(std::span<JobReply> replies, const Operation& operation) override;

 private:
  ShareStream shares_;
};

}  // namespace tkdc::agent
