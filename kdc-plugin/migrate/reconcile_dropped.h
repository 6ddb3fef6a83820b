// SPDX-License-Identifier: Apache-2.0
// `tkdc reconcile dropped|purge|request|give-back`: what becomes of keys that the servers dropped.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "migrate/dropped_keys.h"

namespace tkdc::migrate {

struct DroppedOptions {
  std::string realm, file;
  std::vector<std::string> principals;
  bool due = false, all = false, yes = false, json = false;
  unsigned hours = 12;
  CLI::App *list = nullptr, *purge = nullptr, *request = nullptr, *give_back = nullptr;
};

void add_dropped_commands(CLI::App& app, DroppedOptions& options);
// Nothing: none of them was asked for.
std::optional<int> run_dropped_command(const DroppedOptions& options);

}  // namespace tkdc::migrate
