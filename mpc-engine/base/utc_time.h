// SPDX-License-Identifier: Apache-2.0
// Points in time as an administrator writes them, and as ours are written for him. Texts that
// stand for no time are refused; a number that is none is written as "?".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace tkdc {

// Seconds since 1970. "now"; how long ago: 90s, 30m, 2h, 7d, also with a minus; or UTC as
// 2026-11-21T23:00:00Z, also without the seconds, the Z or the time of day.
Result<std::int64_t> parse_utc(const std::string& text, std::int64_t now_s);

std::string format_utc(std::int64_t s);          // 2026-11-21T23:00:00Z
std::string format_utc_spaced(std::int64_t s);   // 2026-11-21 23:00:00 UTC
std::string format_utc_compact(std::int64_t s);  // 20261121T230000Z, for names of files
// Of that form alone; nothing: it is not.
std::optional<std::int64_t> parse_utc_compact(const std::string& text);
std::string format_utc_ms(std::int64_t ms);  // 2026-11-21T23:00:00.123Z

// Now, with milliseconds: the form of a log's line.
std::string utc_now_ms();

}  // namespace tkdc
