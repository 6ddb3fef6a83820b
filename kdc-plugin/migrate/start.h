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

// A value ends the program: its exit status.
inline std::optional<int> read_arguments(CLI::App& app, int argc, char** argv) {
  app.set_version_flag("--version", app.get_name() + " " + kVersionAndCommit);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 1;
  }
  return std::nullopt;
}

// From here on nothing of this process leaves its memory.
inline void harden() {
  forbid_dumps();
  lock_memory();
  handle_signals();
  ::umask(077);
}

inline std::optional<int> start(CLI::App& app, int argc, char** argv) {
  const auto status = read_arguments(app, argc, argv);
  if (!status) harden();
  return status;
}

}  // namespace tkdc::migrate
