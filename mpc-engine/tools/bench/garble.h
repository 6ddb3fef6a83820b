// SPDX-License-Identifier: Apache-2.0
// tkdc bench garble: garbled circuits on one core, and between two processes on loopback.
#pragma once

#include <CLI/CLI.hpp>

namespace tkdc::bench {

void add_garble(CLI::App& bench, int& exit_status);

}  // namespace tkdc::bench
