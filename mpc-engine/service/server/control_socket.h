// SPDX-License-Identifier: Apache-2.0
// The real socket of agents: a ZeroMQ ROUTER, and the handler that says whom it lets in, which has
// a thread of its own. Wiped after use is what libzmq lets us wipe: its own buffers are not ours.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "service/server/agent_socket.h"
#include "service/server/config.h"

namespace tkdc {

struct ControlSocketOptions {
  std::string listen;             // tcp://host:port; port * lets the kernel choose
  SecretVector curve_secret_key;  // Z85
  std::vector<AgentEntry> agents;
  std::size_t max_answers_waiting = 8'192;      // of one agent
  std::function<void(const std::string&)> log;  // any thread
};

// Bound to `listen`.
Result<std::unique_ptr<AgentSocket>> open_control_socket(const ControlSocketOptions& options);

}  // namespace tkdc
