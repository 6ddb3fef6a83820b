// SPDX-License-Identifier: Apache-2.0
// The daemons' log (base/log.h), by the names that the agent uses.
#pragma once

#include "base/log.h"

namespace tkdc::agent {

using Level = LogLevel;

inline void log(Level level, std::string_view text) { log_line(level, text); }

}  // namespace tkdc::agent
