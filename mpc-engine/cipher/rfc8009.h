// SPDX-License-Identifier: Apache-2.0
// aes128-cts-hmac-sha256-128 (19) and aes256-cts-hmac-sha384-192 (20) on shares:
// RFC 8009.
//
// Keys, derived keys, HMAC pad states, plaintexts, ciphertexts and checksums are
// all shared; only lengths are public. Opened to the servers: whether a MAC holds.
// What is derived once per key and usage is kept in the key's record: the round
// keys of Ke, and the SHA-2 states after HMAC's inner and outer pad for Ki and Kc.
// Encrypt-then-MAC, so a seal's CBC and HMAC run one after the other: 40 n + 462
// (m + 1) rounds or 56 n + 656 (m + 1) for n AES blocks and m SHA-2 blocks behind
// the pad. To open, both run side by side; the plaintext leaves only if the MAC
// holds.
#pragma once

#include <optional>
#include <vector>

#include "cipher/rfc3962.h"
#include "protocol/protocol.h"

namespace tkdc {

// What the two enctypes differ in: RFC 8009, section 4.
struct Rfc8009 {
  const HashFunction& hash;
  std::size_t key_bytes;      // base key and Ke
  std::size_t mac_key_bytes;  // Ki and Kc
  std::size_t tag_bytes;      // of the truncated HMAC: checksums too
  std::size_t prf_bytes;

  std::size_t overhead_bytes() const { return kConfounderBytes + tag_bytes; }
};
// By the base key's length, 16 or 32.
const Rfc8009& rfc8009_of(std::size_t key_bytes);

// HMAC truncated to tag_bytes.
Task<SharedBytes> rfc8009_mac(Protocol& protocol, const Rfc8009& enctype, const SharedBytes& pads,
                              SharedBytes data);

// Section 3: KDF-HMAC-SHA2 under the base key's pad states, to `bytes` octets.
// The label is public, the context ("prf" only) is shared.
Task<SharedBytes> rfc8009_kdf(Protocol& protocol, const Rfc8009& enctype, const SharedBytes& base,
                              Bytes label, const SharedBytes& context, std::size_t bytes);

// Keys of several labels side by side; labels and lengths in the same order.
Task<std::vector<SharedBytes>> rfc8009_derive(Protocol& protocol, const Rfc8009& enctype,
                                              const SharedBytes& base, std::vector<Bytes> labels,
                                              std::vector<std::size_t> bytes);

// Section 5: the confounder is drawn by the servers and seen by none.
Task<SharedBytes> rfc8009_seal(Protocol& protocol, const Rfc8009& enctype, const SharedBytes& ke,
                               const SharedBytes& ki, SharedBytes plaintext);
// Nothing when the MAC does not hold. `sealed`: at least overhead_bytes().
Task<std::optional<SharedBytes>> rfc8009_open(Protocol& protocol, const Rfc8009& enctype,
                                              const SharedBytes& ke, const SharedBytes& ki,
                                              SharedBytes sealed);

// Section 5's PRF: prf_bytes octets.
Task<SharedBytes> rfc8009_prf(Protocol& protocol, const Rfc8009& enctype, const SharedBytes& base,
                              const SharedBytes& in);

}  // namespace tkdc
