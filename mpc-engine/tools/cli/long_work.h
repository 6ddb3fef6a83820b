// SPDX-License-Identifier: Apache-2.0
// Commands that take long say how far they are, and undo what they have half done when somebody
// stops them.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "base/stop.h"

namespace tkdc::cli {

inline constexpr std::uint64_t kMebibyte = 1 << 20;

// Shows it on stderr, in units of so many; its line goes with it. From here on SIGINT and SIGTERM
// ask to stop, and it says so.
Watch watched(const std::string& what, std::uint64_t unit = 1);

// Returns what `work` has returned in a process of its own, which is asked to stop when this one
// is. Error: it cannot be started, or was killed.
Result<int> in_another_process(const std::function<int()>& work);

}  // namespace tkdc::cli
