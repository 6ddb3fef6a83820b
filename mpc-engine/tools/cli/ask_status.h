// SPDX-License-Identifier: Apache-2.0
// Where a status is asked for: at an agent, which asks all three servers, or at one server on its
// own host, which speaks for itself alone.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace tkdc::cli {

struct StatusPlace {
  std::string socket;
  bool of_server = false;
  bool is_usual = false;  // nobody named it
};

// As options of a command name it.
struct StatusPlaceOptions {
  std::string socket, server_socket;
  std::string config;  // an agent.toml or a tkdc.toml

  void add_to(CLI::App& command);
};

// The files NAME/tkdc.toml, or NAME/agent.toml, in a folder; those that this account can see.
std::vector<std::string> configs_in(const std::string& folder, const std::string& file);
// `named`, or, where none is, the only tkdc.toml of this host's servers.
Result<std::string> server_config(const std::string& named,
                                  const std::string& folder = "/etc/tkdc");

// None of them set: the agent of krb5kdc. Error: a file that is neither.
Result<StatusPlace> status_place(const StatusPlaceOptions& options);

// An agent's document (docs/man/tkdc.8, "status"). A server's has it as the only one under
// `servers`, and `of_server`, its number. Waits some seconds at most. Error: nobody there, or what
// was answered.
Result<nlohmann::json> ask_status(const StatusPlace& place);

}  // namespace tkdc::cli
