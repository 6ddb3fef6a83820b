// SPDX-License-Identifier: Apache-2.0
// AES's round keys on shares (FIPS 197, section 5.2).
#pragma once

#include "protocol/protocol.h"

namespace tkdc {

// Round keys stand in FIPS 197's order, 16 octets each.
constexpr int aes_rounds(std::size_t key_bytes) { return key_bytes == 16 ? 10 : 14; }
constexpr std::size_t aes_round_key_bytes(std::size_t key_bytes) {
  return 16 * (static_cast<std::size_t>(aes_rounds(key_bytes)) + 1);
}
constexpr Unit aes_expansion(std::size_t key_bytes) {
  return key_bytes == 16 ? Unit::kAesExpand128 : Unit::kAesExpand256;
}

// Of keys of one size, 16 or 32 octets, side by side.
Task<std::vector<SharedBytes>> aes_expand_keys(Protocol& protocol, std::vector<SharedBytes> keys);
Task<SharedBytes> aes_expand_key(Protocol& protocol, SharedBytes key);

}  // namespace tkdc
