// SPDX-License-Identifier: Apache-2.0
// tkdc bench ot: OT extension between two processes on loopback.
#pragma once

#include <CLI/CLI.hpp>

namespace tkdc::bench {

void add_ot(CLI::App& bench, int& exit_status);

}  // namespace tkdc::bench
