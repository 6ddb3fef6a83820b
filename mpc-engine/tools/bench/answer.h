// SPDX-License-Identifier: Apache-2.0
// How a bench that is measured as one JSON object answers.
#pragma once

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/result.h"
#include "tools/bench/device.h"

namespace tkdc::bench {

// As one line of JSON, or by `print`. The exit status.
inline int answer_bench(const Result<nlohmann::json>& report, bool json,
                        void (*print)(const nlohmann::json&)) {
  if (!report) return refuse_bench(report.error().message);
  if (json)
    std::cout << report->dump() << "\n";
  else
    print(*report);
  return 0;
}

}  // namespace tkdc::bench
