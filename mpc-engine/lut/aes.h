// SPDX-License-Identifier: Apache-2.0
// AES-128 and AES-256 (FIPS 197) on shared octets, key schedule included, by whatever substitutes
// shared octets. All that is not the S-box is linear and each party's own work.
//
//   input    both send x_own ⊕ ρ_own, ρ a random octet: what a party sends is its share, by choice
//   output   all that was opened is checked; then both send their shares, and these are checked
//
// share level: labels of both sum to x (1, Δ), of what OpenSSL has for x;
// tests/unit/lut/aes_test.cc.
//
// Calls block; one thread. Secret: inputs, keys, states. Public: outputs, to both. Error: the
// session's.
#pragma once

#include <functional>

#include "lut/dealer.h"
#include "lut/kernel.h"

namespace tkdc::lut {

inline constexpr std::size_t kBlockOctets = 16;

// Replaces octets by their S-box's.
using Substitute = std::function<Result<void>(std::span<Label>)>;

// How many S-boxes a key of so many octets takes, and a block under it.
constexpr std::size_t rounds_of(std::size_t key_octets) { return key_octets / 4 + 6; }
constexpr std::size_t schedule_lookups(std::size_t key_octets) {
  return key_octets == 32 ? 4 * 13 : 4 * 10;
}
constexpr std::size_t block_lookups(std::size_t key_octets) {
  return kBlockOctets * rounds_of(key_octets);
}

// Random octets for as many inputs.
Result<Labels> input_masks(Dealer& dealer, std::size_t octets);
// Labels of octets of which this party has its shares.
Result<Labels> input(Dealer& dealer, std::span<const Label> masks,
                     std::span<const std::uint8_t> own);
// The octets, at both; after both checks.
Result<Bytes> output(Dealer& dealer, std::span<const Label> octets);

// 16 or 32 octets to all round keys.
Result<Labels> expand_key(Dealer& dealer, const Substitute& substitute, std::span<const Label> key);
// Blocks one behind the other, in place. As many rounds of messages as AES has, times the S-box's.
Result<void> encrypt(const Substitute& substitute, std::span<const Label> round_keys,
                     std::span<Label> blocks);

}  // namespace tkdc::lut
