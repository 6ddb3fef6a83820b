// SPDX-License-Identifier: Apache-2.0
// Points in time as an administrator writes them.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace tkdc {

// Seconds since 1970. "now"; how long ago: 90s, 30m, 2h, 7d, also with a minus; or UTC as
// 2026-11-21T23:00:00Z, also without the seconds, the Z or the time of day.
Result<std::int64_t> parse_utc(const std::string& text, std::int64_t now_s);

std::string format_utc(std::int64_t s);

}  // namespace tkdc
