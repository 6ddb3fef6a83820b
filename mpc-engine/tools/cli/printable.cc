// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/printable.h"

#include "base/hex.h"

namespace tkdc::cli {

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto octet = static_cast<std::uint8_t>(c);
    if (octet >= 0x20 && octet <= 0x7e)
      out += c;
    else
      out += "\\x" + to_hex({&octet, 1});
  }
  return out;
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(text);
  std::string out = "'";
  for (const char c : text)
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  return out + "'";
}

}  // namespace tkdc::cli
