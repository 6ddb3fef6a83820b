// SPDX-License-Identifier: Apache-2.0
// Two streams of ChaCha20 (RFC 8439, section 2.4), added: what zero-shares are made of. Nonce 0.
// Keys and streams are secret.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tkdc {

// out = F(a) ^ F(b) from block `counter` on; `bytes` is a multiple of ZeroStream::kPieceBytes.
using AddedChaCha20 = void (*)(const std::uint8_t* a, const std::uint8_t* b, std::uint32_t counter,
                               std::uint8_t* out, std::size_t bytes);

// By sixteen blocks at once; null when the CPU lacks AVX-512 F.
AddedChaCha20 added_chacha20_avx512();

}  // namespace tkdc
