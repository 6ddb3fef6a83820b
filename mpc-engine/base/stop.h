// SPDX-License-Identifier: Apache-2.0
// How long work is asked to stop, and what it then does: it undoes what it has half done, and says
// so. How far it is: base/progress_line.h.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"

namespace tkdc {

// SIGINT and SIGTERM ask to stop; a closed pipe is an error of the write.
void handle_signals();
bool stop_asked();

// Is told how much of the work is done, and of how much. False: stop.
using Watch = std::function<bool(std::uint64_t done, std::uint64_t of)>;
// Error: it says stop. None says nothing.
Result<void> look(const Watch& watch, std::uint64_t done, std::uint64_t of);

}  // namespace tkdc
