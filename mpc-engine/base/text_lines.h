// SPDX-License-Identifier: Apache-2.0
// Reads the text files that administrators hand to each other: lines that start with a word of
// their own, in one order.
//
//   TextLines lines(text);
//   request.realm = lines.after("realm");          "realm EXAMPLE.TEST\n"
//   ...
//   if (!lines.error().empty()) ...                the first line that is not as it should be
//
// Getters return nothing after an error, so that a reader is straight-line. Whoever reads a file
// that is signed writes it anew and compares: then there is one way to write it. Nothing in such a
// file is secret.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/hex.h"

namespace tkdc {

inline constexpr std::size_t kMaxLineTextBytes = 4096;

// A name of any octets but such as would end the line or steer a terminal.
inline bool fits_a_line(std::string_view text) {
  return !text.empty() && text.size() <= kMaxLineTextBytes &&
         std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

class TextLines {
 public:
  explicit TextLines(std::string_view text) : rest_(text) {}

  // The next line, which starts with `word` and a blank; what follows it.
  std::string_view after(std::string_view word) {
    const std::string_view text = line();
    if (text.size() <= word.size() || !text.starts_with(word) || text[word.size()] != ' ')
      return wrong("does not start with \"" + std::string(word) + "\"");
    return text.substr(word.size() + 1);
  }
  std::string_view line() {
    ++number_;
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return wrong("is cut short");
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::string_view wrong(const std::string& what) {
    if (error_.empty()) error_ = "line " + std::to_string(number_) + " " + what;
    rest_ = {};
    return {};
  }
  template <class Number>
  Number number(std::string_view text, std::uint64_t most) {
    Number out{};
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (code != std::errc() || end != text.data() + text.size() ||
        static_cast<std::uint64_t>(out) > most)  // negative ones are
      wrong("has no number up to " + std::to_string(most));
    return out;
  }
  // Up to the next blank, which goes too.
  std::string_view word(std::string_view& text) {
    const std::size_t end = text.find(' ');
    if (end == std::string_view::npos) return wrong("lacks a word");
    const std::string_view out = text.substr(0, end);
    text.remove_prefix(end + 1);
    return out;
  }
  template <std::size_t N>
  void octets(std::string_view text, std::array<std::uint8_t, N>& out) {
    if (!from_hex(text, out)) wrong("has no " + std::to_string(2 * N) + " hexadecimal digits");
  }
  bool over() const { return rest_.empty(); }
  const std::string& error() const { return error_; }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
  std::string error_;
};

}  // namespace tkdc
