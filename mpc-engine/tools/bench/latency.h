// SPDX-License-Identifier: Apache-2.0
// tkdc bench latency: how long one AES block takes, and a chain of 20, each alone on
// a warm lane, with S-boxes in layers and by masks made ahead
// (docs/protocols/16-one-hot-aes.md).
#pragma once

#include <CLI/CLI.hpp>

namespace tkdc::bench {

void add_latency(CLI::App& bench, int& exit_status);

}  // namespace tkdc::bench
