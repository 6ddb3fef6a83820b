// SPDX-License-Identifier: Apache-2.0
#include "base/utc_time.h"

#include <time.h>

#include <array>
#include <cstring>

#include "base/machine.h"

namespace tkdc {
namespace {

constexpr std::size_t kMaxDigits = 9;
constexpr std::int64_t kMsPerS = 1'000;

Error not_a_time(const std::string& text) {
  return fail("\"" + text +
              "\" is no time: write UTC like 2026-11-21T23:00:00Z, or how long ago it was, like "
              "90s, 30m, 2h, 7d, or now");
}

Result<std::int64_t> parse_ago(const std::string& text, std::int64_t now_s) {
  const std::size_t sign = text.front() == '-' ? 1 : 0;
  const std::string digits = text.substr(sign, text.size() - 1 - sign);
  if (digits.empty() || digits.size() > kMaxDigits ||
      digits.find_first_not_of("0123456789") != std::string::npos)
    return not_a_time(text);
  std::int64_t unit_s = 0;
  switch (text.back()) {
    case 's': unit_s = 1; break;
    case 'm': unit_s = 60; break;
    case 'h': unit_s = 3600; break;
    case 'd': unit_s = 86'400; break;
    default: return not_a_time(text);
  }
  return now_s - unit_s * std::stoll(digits);
}

// Nothing: it is not of this form, or no time, as 31 February, which timegm() makes a day of March.
std::optional<std::int64_t> by_format(const std::string& text, const char* format) {
  tm parts{};
  const char* end = ::strptime(text.c_str(), format, &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  const tm asked = parts;
  const std::int64_t s = ::timegm(&parts);
  const bool same = parts.tm_mday == asked.tm_mday && parts.tm_mon == asked.tm_mon &&
                    parts.tm_hour == asked.tm_hour && parts.tm_min == asked.tm_min;
  return same && s > 0 ? std::optional(s) : std::nullopt;
}

std::string in_format(const char* format, std::int64_t s) {
  const time_t when = s;
  tm parts{};
  std::array<char, 32> text{};
  if (::gmtime_r(&when, &parts) == nullptr ||
      ::strftime(text.data(), text.size(), format, &parts) == 0)
    return "?";
  return text.data();
}

}  // namespace

Result<std::int64_t> parse_utc(const std::string& text, std::int64_t now_s) {
  if (text == "now") return now_s;
  if (text.size() >= 2 && std::strchr("smhd", text.back()) != nullptr)
    return parse_ago(text, now_s);
  std::string plain = text;
  if (plain.size() > 10 && plain.back() == 'Z') plain.pop_back();
  if (plain.size() > 10 && plain[10] == ' ') plain[10] = 'T';
  for (const char* format : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"})
    if (const auto s = by_format(plain, format)) return *s;
  return not_a_time(text);
}

std::string format_utc(std::int64_t s) { return in_format("%Y-%m-%dT%H:%M:%SZ", s); }

std::string format_utc_spaced(std::int64_t s) { return in_format("%Y-%m-%d %H:%M:%S UTC", s); }

std::string format_utc_compact(std::int64_t s) { return in_format("%Y%m%dT%H%M%SZ", s); }

std::optional<std::int64_t> parse_utc_compact(const std::string& text) {
  return by_format(text, "%Y%m%dT%H%M%SZ");
}

std::string format_utc_ms(std::int64_t ms) {
  const std::int64_t s = ms / kMsPerS - (ms % kMsPerS < 0 ? 1 : 0);
  const std::string fraction = std::to_string(kMsPerS + ms - s * kMsPerS).substr(1);
  return in_format("%Y-%m-%dT%H:%M:%S.", s) + fraction + "Z";
}

std::string utc_now_ms() { return format_utc_ms(wall_ms()); }

}  // namespace tkdc
