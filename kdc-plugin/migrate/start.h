// SPDX-License-Identifier: Apache-2.0
// How tkdc-import, tkdc-export and tkdc-reconcile start, before they hold a secret.
#pragma once

#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "base/hardening.h"
#include "base/stop.h"
#include "base/version.h"

namespace tkdc::migrate {

// Reads the arguments. A value ends the program: its exit status.
inline std::optional<int> start(CLI::App& app, int argc, char** argv) {
  app.set_version_flag("--version", app.get_name() + " " + kVersionAndCommit);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 1;
  }
  forbid_dumps();
  lock_memory();
  handle_signals();
  ::umask(077);
  return std::nullopt;
}

}  // namespace tkdc::migrate
