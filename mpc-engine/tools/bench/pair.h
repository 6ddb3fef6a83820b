// SPDX-License-Identifier: Apache-2.0
// tkdc bench pair: operations of two servers with a stored key, between two processes on loopback.
#pragma once

#include <CLI/CLI.hpp>

namespace tkdc::bench {

void add_pair(CLI::App& bench, int& exit_status);

}  // namespace tkdc::bench
