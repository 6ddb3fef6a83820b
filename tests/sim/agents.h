// SPDX-License-Identifier: Apache-2.0
// The control plane: the simulated sides of service/server/agent_socket.h and agent/server_link.h,
// and an agent's process with the product's own jobs in it.
#pragma once

#include <map>
#include <memory>

#include "agent/jobs.h"
#include "service/server/agent_socket.h"
#include "sim/wire.h"

namespace tkdc::sim {

inline constexpr InstallationId kInstallation = {0x51, 0x3d, 7};

std::unique_ptr<AgentSocket> agent_socket_of(const Host& host);
void new_agent_sockets();

// One agent: kdc's or administrator's.
class Agent {
 public:
  explicit Agent(Host& host);

  void start();
  void crash();  // for good, until start()
  bool running() const { return running_; }
  const Host& host() const { return host_; }

  struct Answer {
    bool there = false;
    agent::Outcome outcome;
    KeyId key_id{};
    Us asked_at = 0;
  };
  // Waits for the answer to one operation, as a program on the KDC's host does. `body` as wire.h
  // says. Nothing: the agent is gone.
  Answer ask(tkdc_wire_op op, const Bytes& body, std::uint32_t deadline_ms = 10'000);
  // Nobody waits for an answer.
  void ask_only(tkdc_wire_op op, const Bytes& body, std::uint32_t deadline_ms);

 private:
  struct Question {
    std::uint64_t number;
    tkdc_wire_op op;
    Bytes body;
    std::uint32_t deadline_ms;
  };
  bool is_admin() const { return host_.number == kAdmin; }
  void run();

  Host& host_;
  agent::AgentConfig config_;
  bool running_ = false;
  std::uint64_t next_ = 0;
  std::deque<Question> questions_;
  std::map<std::uint64_t, Answer> answers_;  // by question, while somebody waits
};

}  // namespace tkdc::sim
