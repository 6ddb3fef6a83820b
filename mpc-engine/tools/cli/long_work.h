// SPDX-License-Identifier: Apache-2.0
// Commands that take long say how far they are, and undo what they have half done when somebody
// stops them.
#pragma once

#include <string>

#include "base/stop.h"

namespace tkdc::cli {

inline constexpr std::uint64_t kMebibyte = 1 << 20;

// Shows it on stderr, in units of so many; its line goes with it. From here on SIGINT and SIGTERM
// ask to stop, and it says so.
Watch watched(const std::string& what, std::uint64_t unit = 1);

}  // namespace tkdc::cli
