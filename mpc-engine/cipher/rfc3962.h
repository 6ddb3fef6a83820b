// SPDX-License-Identifier: Apache-2.0
// aes128- and aes256-cts-hmac-sha1-96 on shares: RFC 3961's simplified profile
// with RFC 3962's parameters.
//
// Keys, derived keys, HMAC pad states, plaintexts, ciphertexts and checksums
// are all shared; only lengths are public. What is derived once per key and
// usage is kept in the key's record: the round keys of Ke, and the SHA-1 states
// after HMAC's inner and outer pad for Ki and Kc, so an HMAC starts behind them.
// Rounds for n blocks of plaintext with confounder: seal max(56 n, 480 (m + 1) + 2)
// where m is the number of SHA-1 blocks behind the pad; CBC and HMAC run side
// by side.
#pragma once

#include <optional>
#include <vector>

#include "base/n_fold.h"
#include "cipher/hash.h"

namespace tkdc {

inline constexpr std::size_t kConfounderBytes = 16;
inline constexpr std::size_t kChecksumBytes = 12;
inline constexpr std::size_t kCtsOverheadBytes = kConfounderBytes + kChecksumBytes;

// RFC 3961 section 5.1: Kc 0x99, Ke 0xAA, Ki 0x55 behind the key usage.
enum class DerivedKey : std::uint8_t { kChecksum = 0x99, kEncryption = 0xAA, kIntegrity = 0x55 };
Bytes derivation_constant(std::uint32_t usage, DerivedKey kind);

// DK of one base key for several constants side by side; 2 AES blocks in
// sequence for AES-256. Each result has the base key's size.
Task<std::vector<SharedBytes>> derive_keys(Protocol& protocol, const SharedBytes& base_round_keys,
                                           std::size_t key_bytes, std::vector<Bytes> constants);

// HMAC-SHA1-96: 12 octets. Here and below what is passed by reference, keys and pad
// states (cipher/hash.h), outlives the task.
Task<SharedBytes> hmac_sha1_96(Protocol& protocol, const SharedBytes& pads, SharedBytes data);

// RFC 3962 section 5: CBC with ciphertext stealing, zero IV, at least 16 octets.
Task<SharedBytes> cts_encrypt(Protocol& protocol, const SharedBytes& round_keys, SharedBytes in);
Task<SharedBytes> cts_decrypt(Protocol& protocol, const SharedBytes& round_keys, SharedBytes in);

// RFC 3961 section 5.3: the confounder is drawn by the servers and seen by none.
Task<SharedBytes> rfc3962_seal(Protocol& protocol, const SharedBytes& ke, const SharedBytes& ki,
                               SharedBytes plaintext);

// In two parts (docs/protocols/17-two-part-hmac.md): of a long message the servers hash the first
// block and the inner digest, and whoever knows the message hashes what is between.
//
// The state after K ^ ipad and the first 64 octets of `data`, which has no fewer: 20 octets.
Task<SharedBytes> hmac_sha1_head(Protocol& protocol, const SharedBytes& pads, SharedBytes data);
// HMAC-SHA1-96 of the message whose inner digest this is: 12 octets.
Task<SharedBytes> hmac_sha1_96_tail(Protocol& protocol, const SharedBytes& pads,
                                    SharedBytes digest);
// The ciphertext without its MAC, and hmac_sha1_head() of confounder and plaintext. At least 48
// octets of plaintext.
Task<SharedBytes> rfc3962_seal_head(Protocol& protocol, const SharedBytes& ke,
                                    const SharedBytes& ki, SharedBytes plaintext);

// Nothing when the MAC does not hold. `sealed`: at least 28 octets.
Task<std::optional<SharedBytes>> rfc3962_open(Protocol& protocol, const SharedBytes& ke,
                                              const SharedBytes& ki, SharedBytes sealed);

// RFC 3961 section 5.3's PRF, 16 octets.
Task<SharedBytes> rfc3962_prf(Protocol& protocol, const SharedBytes& base_round_keys,
                              std::size_t key_bytes, SharedBytes in);

}  // namespace tkdc
