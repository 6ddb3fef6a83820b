// SPDX-License-Identifier: Apache-2.0
// Bits that two parties share and authenticate to each other (Nielsen, Nordholt, Orlandi, Burra,
// "A New Approach to Practical Active-Secure Two-Party Computation", CRYPTO 2012).
//
// Of x = x_own ⊕ x_peer a party holds the MAC of its own bit and the key of the other one's:
//
//   mac = (peer's key) ⊕ x_own · (peer's Δ)       bit 0 of it is x_own; bit 0 of keys is 0
//
// All Δ have bit 0 = 1. Bit 1 is 1 at the garbler and 0 at the evaluator, so that Δ_A ⊕ Δ_B has it.
// Sums of shared bits are sums of both fields. Secret: all of it; no branch depends on a share.
#pragma once

#include <sodium.h>

#include "ot/kernel.h"

namespace tkdc::pair {

using garble::kLabelBytes;
using garble::Label;
using ot::Labels;

enum class Side : std::uint8_t { kGarbler = 0, kEvaluator = 1 };

struct AuthBit {
  Label mac, key;
  std::uint64_t own() const { return mac.colour(); }
  friend AuthBit operator^(const AuthBit& a, const AuthBit& b) {
    return {a.mac ^ b.mac, a.key ^ b.key};
  }
  AuthBit where(std::uint64_t bit) const { return {mac.where(bit), key.where(bit)}; }
};
using AuthBits = std::vector<AuthBit, WipingAllocator<AuthBit>>;

// A party's Δ and which constants it adds: the garbler's own bit takes them.
struct Deltas {
  Side side;
  Label delta;
  ~Deltas() { sodium_memzero(&delta, sizeof delta); }  // of each copy
  // x ⊕ bit, for a bit that both know.
  AuthBit plus(AuthBit x, std::uint64_t bit) const {
    return side == Side::kGarbler ? moved(x, bit, 0) : moved(x, 0, bit);
  }
  // The same bits, this party's own moved by `own` and the peer's by `peers`, which both know.
  AuthBit moved(AuthBit x, std::uint64_t own, std::uint64_t peers) const {
    x.mac.low ^= own;
    x.key = x.key ^ Label { delta.low ^ 1, delta.high }.where(peers);
    return x;
  }
  // What the peer's MAC has to be if its bit is `bit`.
  Label expected(const AuthBit& x, std::uint64_t bit) const { return x.key ^ delta.where(bit); }
};

inline constexpr std::uint64_t kSideBit = 2;  // of a label's low word

Label draw_delta(Side side);

}  // namespace tkdc::pair
