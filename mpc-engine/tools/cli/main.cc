// SPDX-License-Identifier: Apache-2.0
// tkdc: see tkdc(8).
#include <sys/stat.h>

#include <iostream>

#include "base/secret.h"
#include "base/version.h"
#include "tools/cli/commands.h"

int main(int argc, char** argv) {
  if (sodium_init() < 0) {
    std::cerr << "tkdc: libsodium cannot start: the system has no random generator\n";
    return 1;
  }
  ::umask(077);
  CLI::App app("tkdc, the threshold KDC: long-term keys as shares on three servers", "tkdc");
  app.set_version_flag("--version", std::string("tkdc ") + tkdc::kVersionAndCommit);
  app.require_subcommand(1);
  int exit_status = 0;
  tkdc::cli::add_commands(app, exit_status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // That a command is missing is no help to who has mistyped it.
    const std::vector<std::string> unknown = app.remaining(true);
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) &&
        !unknown.empty())
      std::cerr << "tkdc: unknown word '" << unknown.front() << "'\n";
    // 1 for every misuse: 2 is `tkdc status` saying "degraded".
    return app.exit(error) == 0 ? 0 : 1;
  }
  return exit_status;
}
