// SPDX-License-Identifier: Apache-2.0
// Triple DES (NIST SP 800-67) encryption on shared bits, by whatever substitutes six of them by
// four. All that is not an S-box moves bits and adds them: each party's own work, the key schedule
// too. MIT Kerberos has retired it; it is here to stand beside the paper's figures.
//
// Of 48 rounds 46 layers of S-boxes are left: between two DES the permutations cancel, and the last
// round of one and the first of the next read the same half (Keller and others, ACNS 2017, section
// 4.3, count them so). Round i turns (L, R) into (R, L ⊕ f(R, K_i)); with the halves changed
// between, both together give (R, L ⊕ f(R, K_16) ⊕ f(R, K'_1)).
//
// Bits are labels of octets 0 and 1 (label.h), in the standard's order: bit 1 is the highest of
// octet 0. share level: labels of both sum to x (1, Δ) of what OpenSSL has for x;
// tests/unit/lut/des_test.cc.
//
// Calls block; one thread. Secret: keys, states. Error: the substitution's; other lengths.
#pragma once

#include <array>
#include <functional>

#include "lut/triples.h"

namespace tkdc::lut {

inline constexpr std::size_t kDesBlockOctets = 8, kDesKeyOctets = 24, kDesBoxes = 8;
inline constexpr std::size_t kDesLayers = 46, kDesLookups = 48 * kDesBoxes;  // of a block
inline constexpr std::size_t kDesIn = 6, kDesOut = 4;                        // bits of an S-box

// SP 800-67, appendix A: four bits for six, the first bit of each in bit 0.
using DesBox = std::array<std::uint8_t, 64>;
const std::array<DesBox, kDesBoxes>& des_boxes();

// `in`: six bits of each S-box, box k % kDesBoxes; `out`: four.
using SubstituteSix = std::function<Result<void>(std::span<const Label> in, std::span<Label> out)>;

// Bits of octets, the lowest first, in the standard's order, in place; and back.
void standard_order(std::span<Label> bits);
// Whole octets of bits in the standard's order.
Labels octets_of_des(std::span<const Label> bits);

// `key`: bits of 24 octets, parity bits are not looked at. `blocks`: bits, one block behind the
// other, in place.
Result<void> encrypt_des(const SubstituteSix& substitute, std::span<const Label> key,
                         std::span<Label> blocks);

}  // namespace tkdc::lut
