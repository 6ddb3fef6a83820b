// SPDX-License-Identifier: Apache-2.0
// The status document: JSON that `tkdc status` and monitoring read.
#pragma once

#include <span>
#include <string>

#include "agent/config.h"
#include "agent/counters.h"

namespace tkdc::agent {

struct ServerStatus {
  bool reachable = false;
  std::string trouble;  // why not, when it is not
  std::string json;     // what the server said about itself; empty: nothing
};

std::string status_json(const AgentConfig& config, std::span<const ServerStatus> servers,
                        const Counters& counters, std::size_t pending);

}  // namespace tkdc::agent
