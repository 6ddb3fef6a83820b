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
#include <memory>
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

// Who computes what AES computes under a GCM key, where it is not the protocol's layers: garbled
// circuits (service/garbled/garbled_gcm.h). `round_keys`: the key's, and begin with the key itself.
// They and what is awaited outlive the task. All of it is right before it is returned, but for what
// a caller's own layers brought in.
class GcmCipher {
 public:
  virtual ~GcmCipher() = default;
  // AES_K(J0), which masks the tag, and the keystream of so many octets.
  virtual Task<SharedBytes> stream(const SharedBytes& round_keys, GcmNonce nonce,
                                   std::size_t bytes) = 0;
  // The keystream if AES_K(J0) is what `mask` yields. All parties learn whether it is.
  virtual Task<std::optional<SharedBytes>> stream_if(const SharedBytes& round_keys, GcmNonce nonce,
                                                     Task<SharedBytes> mask, std::size_t bytes) = 0;
  // AES_K of a block.
  virtual Task<SharedBytes> block(const SharedBytes& round_keys, SharedBytes in) = 0;
  // Whether `expected` is AES_K(in), cut or filled up with zeros to its length. All parties learn
  // it.
  virtual Task<bool> block_is(const SharedBytes& round_keys, SharedBytes in,
                              SharedBytes expected) = 0;
};

// By a protocol's layers.
std::unique_ptr<GcmCipher> layered_gcm(Protocol& protocol);

// Round keys and the powers of H = AES_K(0), as kept in a key's record.
struct GcmKey {
  const SharedBytes& round_keys;
  const SharedBytes& powers;
  GcmCipher* cipher = nullptr;  // null: the protocol's layers
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

// Whether `signature` is that of `data`, with zeros behind its first 16 octets.
Task<bool> gcm_verify(Protocol& protocol, GcmKey key, SharedBytes data, SharedBytes signature);

}  // namespace tkdc
