// SPDX-License-Identifier: Apache-2.0
// tkdc-workbench: what `tkdc bench` and `tkdc circuit` run. tools/cli/other_programs.cc starts it.
#include "base/command_app.h"
#include "circuits/command/circuit.h"
#include "tools/workbench/commands.h"

int main(int argc, char** argv) {
  return tkdc::run_commands(argc, argv, "tkdc", "measures the engine, and looks at circuits",
                            [](CLI::App& app, int& exit_status) {
                              tkdc::workbench::add_bench(app, exit_status);
                              tkdc::circuits::add_command(app, exit_status);
                            });
}
