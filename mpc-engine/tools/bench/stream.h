// SPDX-License-Identifier: Apache-2.0
// tkdc bench stream: a bulk stream over TLS on loopback, a process at each end.
#pragma once

#include <CLI/CLI.hpp>

namespace tkdc::bench {

void add_stream(CLI::App& bench, int& exit_status);

}  // namespace tkdc::bench
