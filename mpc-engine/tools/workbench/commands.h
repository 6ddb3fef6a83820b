// SPDX-License-Identifier: Apache-2.0
// `tkdc bench`, for those who develop or measure tkdc; no administrator of a realm needs it.
#pragma once

#include <CLI/CLI.hpp>

namespace tkdc::workbench {

void add_bench(CLI::App& app, int& exit_status);

}  // namespace tkdc::workbench
