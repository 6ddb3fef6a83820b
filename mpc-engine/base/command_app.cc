// SPDX-License-Identifier: Apache-2.0
#include "base/command_app.h"

#include <sys/stat.h>

#include <iostream>

#include "base/secret.h"
#include "base/version.h"

namespace tkdc {

int run_commands(int argc, char** argv, const std::string& name, const std::string& what,
                 void (*add)(CLI::App& app, int& exit_status)) {
  if (sodium_init() < 0) {
    std::cerr << name << ": libsodium cannot start: the system has no random generator\n";
    return 1;
  }
  ::umask(077);
  CLI::App app(what, name);
  app.set_version_flag("--version", name + " " + kVersionAndCommit);
  app.require_subcommand(1);
  int exit_status = 0;
  add(app, exit_status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // That a command is missing is no help to who has mistyped it.
    const std::vector<std::string> unknown = app.remaining(true);
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) &&
        !unknown.empty())
      std::cerr << name << ": unknown word '" << unknown.front() << "'\n";
    return app.exit(error) == 0 ? 0 : 1;
  }
  return exit_status;
}

}  // namespace tkdc
