// SPDX-License-Identifier: Apache-2.0
// tkdc bench ctr: AES in counter mode.
#pragma once

#include <CLI/CLI.hpp>

namespace tkdc::bench {

void add_ctr(CLI::App& bench, int& exit_status);

}  // namespace tkdc::bench
