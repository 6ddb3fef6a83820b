// SPDX-License-Identifier: Apache-2.0
// Public values as hexadecimal text: fingerprints, ids, digests. Not for
// secrets: std::string is not wiped.
#pragma once

#include <string>
#include <string_view>

#include "base/secret.h"

namespace tkdc {

inline std::string to_hex(ByteSpan bytes) {
  if (bytes.empty()) return {};  // which may have no address; libsodium takes none
  std::string text(2 * bytes.size() + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), bytes.data(), bytes.size());
  text.pop_back();
  return text;
}

// False unless `text` is exactly two hexadecimal digits for each octet of `out`.
[[nodiscard]] inline bool from_hex(std::string_view text, MutableByteSpan out) {
  if (out.empty()) return text.empty();
  std::size_t length = 0;
  const char* end = nullptr;
  return text.size() == 2 * out.size() &&
         sodium_hex2bin(out.data(), out.size(), text.data(), text.size(), nullptr, &length, &end) ==
             0 &&
         length == out.size() && end == text.data() + text.size();
}

}  // namespace tkdc
