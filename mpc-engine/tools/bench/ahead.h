// SPDX-License-Identifier: Apache-2.0
// tkdc bench ahead: how fast two servers make what stands ready for tickets, by the steps in which
// they do it (service/pair/pair_tables.h, pair_reserve.h).
#pragma once

#include <CLI/CLI.hpp>

namespace tkdc::bench {

void add_ahead(CLI::App& bench, int& exit_status);

}  // namespace tkdc::bench
