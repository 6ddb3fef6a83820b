// SPDX-License-Identifier: Apache-2.0
// The subcommands of `tkdc`. Each adds its options to the application and a
// callback that does the work and sets the exit status. A new one is a file of
// its own, a declaration here and a line in commands.cc.
#pragma once

#include <CLI/CLI.hpp>

namespace tkdc::cli {

// What "semi-honest" means, in the words of docs/security.md.
inline constexpr const char kSecurityMeaning[] =
    "protects keys from whoever reads one server (disk, memory, traffic), not from one server "
    "whose program was changed";

void add_init(CLI::App& app, int& exit_status);
void add_status(CLI::App& app, int& exit_status);
void add_bench(CLI::App& app, int& exit_status);

// All of them.
void add_commands(CLI::App& app, int& exit_status);

}  // namespace tkdc::cli
