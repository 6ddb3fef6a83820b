// SPDX-License-Identifier: Apache-2.0
// tkdc: see tkdc(8).
#include "base/command_app.h"
#include "tools/cli/commands.h"

int main(int argc, char** argv) {
  return tkdc::run_commands(
      argc, argv, "tkdc",
      "tkdc, the threshold KDC: long-term keys as shares on three servers or two",
      tkdc::cli::add_commands);
}
