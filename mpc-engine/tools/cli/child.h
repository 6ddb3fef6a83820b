// SPDX-License-Identifier: Apache-2.0
// A program run to its end, with what it printed. Nothing secret may be among its
// arguments.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace tkdc::cli {

struct ChildResult {
  int status = 0;      // exit status; 128 + signal
  std::string output;  // both streams, in the order in which they came
};

// Looks in PATH, then in /usr/sbin and /sbin. `environment`: NAME=VALUE beside this
// process' own. `most`: it is killed then; what it has started may live on. Error: it cannot be
// started, or was killed so.
Result<ChildResult> run_child(const std::vector<std::string>& argv,
                              const std::vector<std::string>& environment,
                              std::optional<std::chrono::milliseconds> most = std::nullopt);

}  // namespace tkdc::cli
