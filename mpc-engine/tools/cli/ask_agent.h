// SPDX-License-Identifier: Apache-2.0
// An agent's status document, asked for over one of its sockets.
#pragma once

#include <string>

#include "base/result.h"

namespace tkdc::cli {

// The socket that an agent.toml names, relative to that file. Error: names the file.
Result<std::string> socket_of(const std::string& config);

// JSON, as the agent wrote it (docs/man/tkdc.8, "status"). Waits 5 seconds at most. Error: no agent
// there, or what it answered.
Result<std::string> ask_agent(const std::string& socket);

}  // namespace tkdc::cli
