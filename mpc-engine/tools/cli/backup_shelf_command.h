// SPDX-License-Identifier: Apache-2.0
// `tkdc backup list` and `tkdc backup prune`, added to `tkdc backup`.
#pragma once

#include <CLI/CLI.hpp>

namespace tkdc::cli {

void add_shelf_words(CLI::App& backup, int& exit_status);

}  // namespace tkdc::cli
