// SPDX-License-Identifier: Apache-2.0
// tkdc bench sha1: SHA-1's compressions as bulk work.
#pragma once

#include <CLI/CLI.hpp>

namespace tkdc::cli {

void add_bench_sha1(CLI::App& bench, int& exit_status);

}  // namespace tkdc::cli
