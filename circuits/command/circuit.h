// SPDX-License-Identifier: Apache-2.0
// `tkdc circuit info|run|convert|table`. tkdc-workbench runs it (tools/workbench/main.cc).
#pragma once

#include <CLI/CLI.hpp>

namespace tkdc::circuits {

// What goes wrong is said on standard error, and sets the status to 1.
void add_command(CLI::App& app, int& exit_status);

}  // namespace tkdc::circuits
