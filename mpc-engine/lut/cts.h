// SPDX-License-Identifier: Apache-2.0
// AES decryption (FIPS 197, section 5.3), and AES in CBC mode with ciphertext stealing from a zero
// vector (RFC 3962, section 5 and appendix A), on shared octets. One block is plain CBC.
//
// Encryption is a chain: as many rounds of messages as AES has, for each block. Decryption is
// not: all blocks but one go together, and that one follows, as the block before it says what is
// missing at its end.
//
// share level: labels of both sum to x (1, Δ), of what OpenSSL has for x;
// tests/unit/lut/cts_test.cc.
//
// Calls block; one thread. Secret: round keys, texts. Public: lengths. Error: the substitution's;
// less than a block.
#pragma once

#include "lut/aes.h"

namespace tkdc::lut {

// FIPS 197, section 5.3.2: what `substitute` has to do in decrypt().
const Table& aes_inverse_sbox();
// Blocks one behind the other, in place.
Result<void> decrypt(const Substitute& substitute, std::span<const Label> round_keys,
                     std::span<Label> blocks);

// How many S-boxes a text of so many octets takes, under a key of so many.
constexpr std::size_t cts_lookups(std::size_t key_octets, std::size_t octets) {
  return (octets + kBlockOctets - 1) / kBlockOctets * block_lookups(key_octets);
}
Result<Labels> cts_encrypt(const Substitute& substitute, std::span<const Label> round_keys,
                           std::span<const Label> plain);
Result<Labels> cts_decrypt(const Substitute& inverse, std::span<const Label> round_keys,
                           std::span<const Label> sealed);

}  // namespace tkdc::lut
