// SPDX-License-Identifier: Apache-2.0
// The file of an administrator's own key for approvals: an Ed25519 seed under a passphrase.
//
//   "tkdc approver key 1\n" | salt[16] | nonce[24] | box(seed[32])
//
// The box is XSalsa20-Poly1305 under Argon2id of the passphrase. The file is the
// administrator's, not the server's: whoever has it still needs the passphrase.
#pragma once

#include "base/result.h"
#include "base/secret.h"
#include "service/export/approval.h"

namespace tkdc {

inline constexpr std::size_t kMaxApproverKeyBytes = 256;
inline constexpr std::size_t kMinPassphraseBytes = 12;

SecretBuffer draw_approver_seed();
ApproverKey approver_public_key(const SecretBuffer& seed);

// Error: not enough memory for Argon2id.
Result<Bytes> lock_approver_seed(const SecretBuffer& seed, ByteSpan passphrase);
// Error: not such a file, or not this passphrase.
Result<SecretBuffer> unlock_approver_seed(ByteSpan file, ByteSpan passphrase);

}  // namespace tkdc
