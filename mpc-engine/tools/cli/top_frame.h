// SPDX-License-Identifier: Apache-2.0
// What `tkdc top` shows: two statuses, one a moment after the other, as rates and quantiles.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tkdc::cli {

// A line of `--json` (docs/man/tkdc.8, "top"). Of counters that went back, since their process
// began anew, what they are now. `seconds`: between the two, more than 0.
nlohmann::json top_frame(const nlohmann::json& before, const nlohmann::json& now, double seconds);

// It as lines of at most 80 columns, without control characters. `when`: a time of day.
std::vector<std::string> top_lines(const nlohmann::json& frame, const std::string& when);

}  // namespace tkdc::cli
