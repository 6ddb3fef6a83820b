// SPDX-License-Identifier: Apache-2.0
// AES's round keys on shares (FIPS 197, section 5.2).
#pragma once

#include "field/aes_round_keys.h"
#include "protocol/protocol.h"

namespace tkdc {

constexpr Unit aes_expansion(std::size_t key_bytes) {
  return key_bytes == 16 ? Unit::kAesExpand128 : Unit::kAesExpand256;
}

// Of keys of one size, 16 or 32 octets, side by side.
Task<std::vector<SharedBytes>> aes_expand_keys(Protocol& protocol, std::vector<SharedBytes> keys);
Task<SharedBytes> aes_expand_key(Protocol& protocol, SharedBytes key);

}  // namespace tkdc
