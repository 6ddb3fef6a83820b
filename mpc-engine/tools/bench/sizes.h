// SPDX-License-Identifier: Apache-2.0
// Cohort sizes as tkdc bench is given them: "4096", "2^12", "1024,2^14", "2^10..2^22" (doubling)
// or "2^10..2^22x4" (times 4), in any mixture.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace tkdc::bench {

// Each at least `least` and at most `most`. Error: what is wrong, in words.
Result<std::vector<std::size_t>> parse_sizes(const std::string& text, std::size_t least,
                                             std::size_t most);

}  // namespace tkdc::bench
