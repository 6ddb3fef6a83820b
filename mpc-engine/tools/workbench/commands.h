// SPDX-License-Identifier: Apache-2.0
// The subcommands of tkdc-workbench, for who develops or measures tkdc; no administrator of a realm
// needs them. `tkdc bench` and `tkdc circuit` run it (tools/cli/other_programs.cc).
#pragma once

#include <CLI/CLI.hpp>

namespace tkdc::workbench {

void add_bench(CLI::App& app, int& exit_status);
void add_circuit(CLI::App& app, int& exit_status);

}  // namespace tkdc::workbench
