// SPDX-License-Identifier: Apache-2.0
// Shared bits with one MAC for both parties, as SPDZ has it (Damgård, Pastro, Smart, Zakarias,
// CRYPTO 2012): what the lookup tables of Keller and others (ACNS 2017, section 2.1) stand on.
//
// From an authenticated bit x of pair/auth_bit.h each party computes a label:
//
//   L_own = x_own Δ_own ⊕ key ⊕ mac, its bit 0 replaced by x_own
//   L_A ⊕ L_B = x Δ      Δ = Δ_A ⊕ Δ_B but for bit 0, which is 1
//
// So bit 0 of a label is its party's share, the other 127 are its share of a MAC, of which neither
// knows the key: of Δ's bits 1 is 1, and 126 are random to either party. Sums of bits are sums of
// labels; a public bit c is c times each party's part of Δ.
//
// Three more forms follow by each party's own work, all 16 octets:
//
//   string     bits x_0 … x_{n−1}, n ≤ 128: share Σ x_j X^j, MAC Σ X^j L(x_j) in GF(2^128), which
//              is the string's product with Δ
//   octet      bits x_0 … x_7: Σ 2^k L(x_k), where 2^k multiplies each octet in GF(2^8), and of
//              L(x_k) octet 0 is the share alone. Octet 0 of the sum is the octet's share, the
//              other 15 are shares of its products with 15 octets that are random to either party:
//              a MAC with 2^-120. All of GF(2^8)'s linear maps by octets are maps of labels.
//
// Secret: all of it.
#pragma once

#include "ot/field.h"
#include "pair/auth_bit.h"

namespace tkdc::lut {

using garble::kLabelBytes;
using garble::Label;
using ot::field;
using ot::Labels;
using ot::times_x;
using pair::AuthBit;
using pair::AuthBits;
using pair::Side;

// Of what has served.
template <class T>
void wipe(std::span<T> of) {
  sodium_memzero(of.data(), of.size_bytes());
}

// A string's share as an element of GF(2^128), and its MAC.
struct String {
  Label value, mac;
  friend String operator^(const String& a, const String& b) {
    return {a.value ^ b.value, a.mac ^ b.mac};
  }
};
using Strings = std::vector<String, WipingAllocator<String>>;

// This party's part of Δ: bit 0 of the garbler's is 1, of the evaluator's 0.
inline Label part_of_delta(const pair::Deltas& deltas) {
  return deltas.side == Side::kGarbler ? deltas.delta
                                       : Label{deltas.delta.low ^ 1, deltas.delta.high};
}

// The same for octets: octet 0 is 1 at the garbler and 0 at the evaluator.
inline Label octet_part(const Label& part) { return {(part.low & ~0xfeull), part.high}; }

// `bits` are one own bit towards each of so many parties, `stride` apart.
inline Label label_of(const AuthBit* bits, std::size_t parties, std::size_t stride,
                      const Label& delta) {
  const std::uint64_t own = bits->own();
  Label out = delta.where(own);
  for (std::size_t p = 0; p < parties; ++p) out = out ^ bits[p * stride].key ^ bits[p * stride].mac;
  out.low = (out.low & ~std::uint64_t{1}) | own;
  return out;
}
inline Label label_of(const AuthBit& x, const Label& delta) { return label_of(&x, 1, 0, delta); }

// The string of some bits.
inline String string_of(std::span<const Label> bits) {
  String out;
  for (std::size_t j = bits.size(); j-- > 0;) {
    out.mac = times_x(out.mac) ^ bits[j];
    out.value = {out.value.low << 1 | (bits[j].low & 1), out.value.high << 1 | out.value.low >> 63};
  }
  return out;
}

}  // namespace tkdc::lut
