// SPDX-License-Identifier: Apache-2.0
// What the S-box's four layers promise, as three products of octets in the AES
// field, so that each of the 18 message bits is in exactly one claim:
//
//   claim 0   d = a^16 a
//   claim 1   a^-1 = a^16 e
//   claim 2   q + w e = d^4 (d + w q^2), w outside GF(16)
#pragma once

#include "rep3/claims.h"

namespace tkdc {

// The input and the messages of n S-boxes, n a multiple of 16, as kernels.h
// packs them. Index: component.
struct SboxLayers {
  std::size_t n;
  const std::uint8_t *input[2], *norm[2], *pair[2], *inverse[2], *product[2];
};

void record_claims(ClaimLog& log, const SboxLayers& layers);

// The same in two steps: each array is kept when there is one, hold_claims() then takes
// what was kept of all, without copying.
enum class SboxPart : std::uint8_t { kInput, kNorm, kPair, kInverse, kProduct };
inline constexpr std::size_t kKeptOctetsPerSbox16 = 56;  // of 16 S-boxes
// share[c]: component c of the part's octets, of n S-boxes.
void keep_part(SboxPart part, std::size_t n, const std::uint8_t* const share[2],
               std::uint8_t* kept);
void hold_claims(ClaimLog& log, std::size_t n, SecretPool::Piece kept);

// For tests.
const ClaimShape& sbox_claim_shape();

}  // namespace tkdc
