// SPDX-License-Identifier: Apache-2.0
// AES's key expansion (FIPS 197, section 5.2), in the clear: an octet at a time, in constant time.
// aes_round_keys.inl has it for CPUs with AES instructions; keys on shares: cipher/aes_keys.h.
#pragma once

#include "base/secret.h"

namespace tkdc {

// Round keys stand in FIPS 197's order, 16 octets each.
constexpr int aes_rounds(std::size_t key_bytes) { return key_bytes == 16 ? 10 : 14; }
constexpr std::size_t aes_round_key_bytes(std::size_t key_bytes) {
  return 16 * (static_cast<std::size_t>(aes_rounds(key_bytes)) + 1);
}

// `key`: 16 or 32 octets. `out`: as long as its round keys are.
void aes_round_keys(ByteSpan key, MutableByteSpan out);

}  // namespace tkdc
