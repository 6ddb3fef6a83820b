// SPDX-License-Identifier: Apache-2.0
// What the agent does between the two parts of an operation (docs/protocols/17-two-part-hmac.md).
//
// Of a long message under a key of RFC 3962 the servers hash, on shares, its first block and at
// last its inner digest. What is between is the agent's own plaintext: it is hashed here, from the
// state that the head's answer ends with. Secret: the message, the state, the digest.
#pragma once

#include <optional>

#include "enctype.h"
#include "service/wire/message.h"

namespace tkdc::agent {

inline constexpr std::size_t kHashStateBytes = 20;  // SHA-1's, and its digest's

struct Rest {
  SecretVector message;              // behind the first block
  std::size_t first_bytes = 0;       // of the agent's input, that are in the first block
  std::size_t ciphertext_bytes = 0;  // of the head's answer, before the state
  std::size_t head_bytes() const { return ciphertext_bytes + kHashStateBytes; }
};

// Of SEAL's plaintext or MAC's data. Nothing for other operations and enctypes, and where a second
// job would cost more than it saves.
std::optional<Rest> rest_of(tkdc_wire_op op, const tkdc_enctype& enctype, ByteSpan input);

// The inner digest of HMAC-SHA1. `state`: kHashStateBytes octets, after K ^ ipad and the first
// block.
SecretVector inner_digest(ByteSpan state, const Rest& rest);

}  // namespace tkdc::agent
