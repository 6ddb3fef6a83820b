// SPDX-License-Identifier: Apache-2.0
// `tkdc store list` and `tkdc store agree`.
#pragma once

#include <CLI/CLI.hpp>

namespace tkdc::cli {

void add_store_agreement(CLI::App& store, int& exit_status);

}  // namespace tkdc::cli
