// SPDX-License-Identifier: Apache-2.0
// Log lines on stderr, one per call, with the journal's priority in front when
// stderr is the journal. Thread-safe. Bounded: beyond kLogLinesPerSecond the
// lines of that second are counted, not written, so that a peer which provokes
// errors cannot fill the disk. Nothing secret may be passed here.
#pragma once

#include <string_view>

namespace tkdc::agent {

inline constexpr int kLogLinesPerSecond = 50;

enum class Level : int { kError = 3, kWarning = 4, kNotice = 5, kInfo = 6 };

void log(Level level, std::string_view text);

}  // namespace tkdc::agent
