// SPDX-License-Identifier: Apache-2.0
// Log lines on stderr, each with the journal's priority in front. Thread-safe
// and bounded: beyond kLogLinesPerSecond the lines of that second are counted
// instead, so that whoever provokes messages cannot fill a disk. Nothing
// secret may be passed here.
#pragma once

#include <string>

namespace tkdc {

inline constexpr int kLogLinesPerSecond = 50;

enum class LogLevel : int { kError = 3, kWarning = 4, kNotice = 5, kInfo = 6 };

void log_line(LogLevel level, const std::string& text);

}  // namespace tkdc
