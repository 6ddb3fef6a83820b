// SPDX-License-Identifier: Apache-2.0
// tkdc bench sha1: SHA-1's compressions as bulk work.
#pragma once

#include <CLI/CLI.hpp>

namespace tkdc::bench {

void add_sha1(CLI::App& bench, int& exit_status);

}  // namespace tkdc::bench
