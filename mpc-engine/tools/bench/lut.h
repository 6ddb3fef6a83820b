// SPDX-License-Identifier: Apache-2.0
// tkdc bench lut: block ciphers by lookup tables between two processes on loopback.
#pragma once

#include <CLI/CLI.hpp>

namespace tkdc::bench {

void add_lut(CLI::App& bench, int& exit_status);

}  // namespace tkdc::bench
