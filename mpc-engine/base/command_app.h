// SPDX-License-Identifier: Apache-2.0
// How a program of subcommands is run: --help, --version, a word that is no subcommand.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tkdc {

// `add` adds the subcommands; their callbacks set the exit status. `name` is what the program says
// it is called. Returns the exit status: 1 for every wrong usage, since 2 is `tkdc status` saying
// "degraded".
int run_commands(int argc, char** argv, const std::string& name, const std::string& what,
                 void (*add)(CLI::App& app, int& exit_status));

}  // namespace tkdc
