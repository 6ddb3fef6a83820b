// SPDX-License-Identifier: Apache-2.0
// How the daemons are started: --config FILE [--check-config] [--log FORMAT], --version,
// --help. What the daemon logs has that form from here on.
#pragma once

#include <optional>
#include <string>

namespace tkdc {

struct DaemonOptions {
  std::string config;
  bool check_only = false;
};

// `what`: what the daemon is, in a line; `example`: a configuration file's usual place. Nothing:
// the program ends with `exit_status`, 0 after help or version, 2 for wrong usage, which it has
// said on stderr.
std::optional<DaemonOptions> daemon_options(int argc, char** argv, const std::string& name,
                                            const std::string& what, const std::string& example,
                                            int& exit_status);

}  // namespace tkdc
