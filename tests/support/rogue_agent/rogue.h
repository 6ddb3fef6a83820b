// SPDX-License-Identifier: Apache-2.0
// A corrupted agent's end of the servers' control plane: it can send each
// server anything under one job name, and shows what each answered.
//
// Tests only. One thread.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "agent/combine.h"
#include "agent/share_stream.h"
#include "agent/zmq_link.h"

namespace tkdc::agent {

using Jobs3 = std::array<JobRequest, 3>;                  // what each server gets
using Replies3 = std::array<std::optional<JobReply>, 3>;  // nothing: no answer in time

class Rogue {
 public:
  static Result<std::unique_ptr<Rogue>> connect(const AgentConfig& config, int timeout_ms);
  ~Rogue();

  // An honest job: the same to all three, `secret` shared out properly.
  Jobs3 honest(const JobRequest& job, SecretVector secret);
  // Gives the jobs one name and sends them; a server in `left_out` gets none.
  Replies3 ask(Jobs3 jobs, std::optional<std::size_t> left_out = std::nullopt);
  // What an honest agent would make of the replies.
  static Outcome settle(Replies3 replies);

 private:
  Rogue(const AgentConfig& config, int timeout_ms);
  void wait();

  const AgentConfig& config_;
  int timeout_ms_;
  int epoll_fd_;
  std::shared_ptr<zmq::context_t> context_ = std::make_shared<zmq::context_t>(1);
  std::array<std::unique_ptr<ServerLink>, 3> links_;
  ShareStream shares_;
  std::uint64_t session_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace tkdc::agent
