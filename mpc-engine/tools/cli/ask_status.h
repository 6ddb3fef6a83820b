// SPDX-License-Identifier: Apache-2.0
// Where a status is asked for: at an agent, which asks all three servers, or at one server on its
// own host, which speaks for itself alone.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"

namespace tkdc::cli {

struct StatusPlace {
  std::string socket;
  bool of_server = false;
};

// As options of a command name it.
struct StatusPlaceOptions {
  std::string socket, server_socket;
  std::string config;  // an agent.toml or a tkdc.toml

  void add_to(CLI::App& command);
};

// None of them set: the agent of krb5kdc. Error: a file that is neither.
Result<StatusPlace> status_place(const StatusPlaceOptions& options);

// An agent's document (docs/man/tkdc.8, "status"). A server's has it as the only one under
// `servers`, and `of_server`, its number. Waits some seconds at most. Error: nobody there, or what
// was answered.
Result<nlohmann::json> ask_status(const StatusPlace& place);

}  // namespace tkdc::cli
