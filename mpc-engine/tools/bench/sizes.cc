// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/sizes.h"

#include <charconv>
#include <optional>
#include <string_view>

namespace tkdc::bench {
namespace {

std::optional<std::size_t> number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "4096" or "2^12".
std::optional<std::size_t> size_of(std::string_view text) {
  if (!text.starts_with("2^")) return number(text);
  const auto exponent = number(text.substr(2));
  if (!exponent || *exponent > 40) return std::nullopt;
  return std::size_t{1} << *exponent;
}

// One size or one range; false: neither.
bool append(std::string_view text, std::size_t most, std::vector<std::size_t>& sizes) {
  std::size_t factor = 2;
  const auto dots = text.find("..");
  if (dots != text.npos)
    if (const auto times = text.find('x', dots); times != text.npos) {
      factor = number(text.substr(times + 1)).value_or(0);
      text = text.substr(0, times);
    }
  const auto first = size_of(text.substr(0, dots));
  const auto last = dots == text.npos ? first : size_of(text.substr(dots + 2));
  if (!first || !last || *first == 0 || *last < *first || factor < 2 || factor > 1024) return false;
  // One above `most` is enough for the caller to refuse it.
  for (std::size_t size = *first; size <= *last; size *= factor) {
    sizes.push_back(size);
    if (size > most) break;
  }
  return true;
}

}  // namespace

Result<std::vector<std::size_t>> parse_sizes(const std::string& text, std::size_t least,
                                             std::size_t most) {
  std::vector<std::size_t> sizes;
  std::string_view rest = text;
  while (true) {
    const auto comma = rest.find(',');
    if (!append(rest.substr(0, comma), most, sizes))
      return fail("'" + text + "' is no list of sizes like 4096, 2^12, 1024,4096 or 2^10..2^22x4");
    if (comma == rest.npos) break;
    rest = rest.substr(comma + 1);
  }
  for (std::size_t size : sizes)
    if (size < least || size > most)
      return fail("cohorts have " + std::to_string(least) + " to " + std::to_string(most) +
                  " here, not " + std::to_string(size));
  return sizes;
}

}  // namespace tkdc::bench
