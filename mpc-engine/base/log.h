// SPDX-License-Identifier: Apache-2.0
// Log lines of the daemons on stderr: with the journal's priority in front when
// stderr is the journal, with the program's name otherwise. Thread-safe and
// bounded: beyond kLogLinesPerSecond the lines of that second are counted
// instead, so that whoever provokes messages cannot fill a disk. Nothing
// secret may be passed here.
#pragma once

#include <string_view>

namespace tkdc {

inline constexpr int kLogLinesPerSecond = 50;

enum class LogLevel : int { kError = 3, kWarning = 4, kNotice = 5, kInfo = 6 };

void log_line(LogLevel level, std::string_view text);

}  // namespace tkdc
