// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

namespace tkdc::cli {

void add_commands(CLI::App& app, int& exit_status) {
  using Add = void (*)(CLI::App&, int&);
  static constexpr Add kCommands[] = {add_bench, add_init, add_status};
  for (Add add : kCommands) add(app, exit_status);
}

}  // namespace tkdc::cli
