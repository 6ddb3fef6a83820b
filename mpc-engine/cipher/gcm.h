// SPDX-License-Identifier: Apache-2.0
// AES-GCM on shares (SP 800-38D) for keys that only the KDC verifies, and the
// signature form that goes with them.
//
// The key, its round keys, H and its powers stay shared; the ciphertext of a
// ticket is public to the servers. GHASH is linear in the ciphertext, so a tag
// costs no message beyond one more AES block (longer messages: one layer).
// Rounds: seal 56 + 1 (opening the ciphertext), open 56 + 2 (tag test), for
// AES-256 and messages up to kPowers blocks.
// Who sees what: servers the ciphertext and whether a tag holds; nobody else
// anything. A keystream leaves only if the tag holds.
#pragma once

#include <array>
#include <optional>

#include "protocol/protocol.h"

namespace tkdc {

inline constexpr std::size_t kGcmNonceBytes = 12;
inline constexpr std::size_t kGcmTagBytes = 16;
// H^1..H^64, then H^128, H^192, .. H^4096: messages of up to 4,096 blocks.
inline constexpr std::size_t kPowers = 64;
inline constexpr std::size_t kGcmPowerBytes = 16 * (2 * kPowers - 1);
inline constexpr std::size_t kGcmMaxBytes = 16 * (kPowers * kPowers - 2);

using GcmNonce = std::array<std::uint8_t, kGcmNonceBytes>;

// Round keys and the powers of H = AES_K(0), as kept in a key's record.
struct GcmKey {
  const SharedBytes& round_keys;
  const SharedBytes& powers;
};

// The powers of the H of a key; 68 rounds for AES-256.
Task<SharedBytes> gcm_powers(Protocol& protocol, const SharedBytes& round_keys);
Task<SharedBytes> ghash_powers(Protocol& protocol, SharedBytes h);

// Ciphertext and tag: plaintext.size() + 16 octets.
Task<SharedBytes> gcm_seal(Protocol& protocol, GcmKey key, GcmNonce nonce, Bytes associated,
                           SharedBytes plaintext);

// The plaintext, or nothing when the tag does not hold. `sealed`: ciphertext and tag.
Task<std::optional<SharedBytes>> gcm_open(Protocol& protocol, GcmKey key, GcmNonce nonce,
                                          Bytes associated, Bytes sealed);

// The first `bytes` octets (16 at most) of AES_K(GHASH_H(pad(data) || 0^64 || bit
// length)). The data stay shared: one layer of 128 bits, two for more than kPowers
// blocks.
Task<SharedBytes> gcm_sign(Protocol& protocol, GcmKey key, SharedBytes data,
                           std::size_t bytes = 12);

}  // namespace tkdc
