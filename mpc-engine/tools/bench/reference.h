// SPDX-License-Identifier: Apache-2.0
// What tkdc bench compares its results with: OpenSSL's AES, SHA-1 and SHA-256.
#pragma once

#include "base/result.h"
#include "base/secret.h"

namespace tkdc::bench {

// E_key(.. E_key(in)), `times` times, block by block; `key` has 16 or 32 octets.
Result<Bytes> openssl_encrypt(const Bytes& key, ByteSpan in, std::size_t times = 1);

Result<Bytes> openssl_sha1(ByteSpan message);

// SHA-256's state after `times` times the same block.
Bytes openssl_sha256_blocks(const Bytes& state, const Bytes& block, std::uint64_t times);

}  // namespace tkdc::bench
