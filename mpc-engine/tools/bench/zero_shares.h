// SPDX-License-Identifier: Apache-2.0
// tkdc bench zero-shares: both generators, on this CPU in one thread and on a GPU.
#pragma once

#include <CLI/CLI.hpp>

namespace tkdc::bench {

void add_zero_shares(CLI::App& bench, int& exit_status);

}  // namespace tkdc::bench
