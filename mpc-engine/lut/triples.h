// SPDX-License-Identifier: Apache-2.0
// Products of shared octets or bits by multiplication triples (Beaver, CRYPTO 1991), and octets as
// their bits: what Keller and others (ACNS 2017, sections 2.1 and 3.1) evaluate S-boxes with where
// they look nothing up.
//
//   ahead     a, b random, c = a b: products of a's bits with b as a string (string_product.h)
//   multiply  d = x ⊕ a and e = y ⊕ b opened; x y = c ⊕ d b ⊕ e a ⊕ d e
//
//   ahead     r random, by its bits
//   bits      h = x ⊕ r opened; bit j of x is r_j ⊕ h_j
//
// A wrong opening is found by the dealer's check, later. Until then it tells nothing: what an
// honest party opens is masked by a whole octet, or by one bit where its share is one. So that a
// share of a bit is a bit whatever the other party sends, bits travel eight to an octet, and of an
// opened octet nothing but bits is used.
//
// Each serves once (stock.h), and its labels are wiped then.
//
// share level: labels of both sum to x y (1, Δ); tests/unit/lut/triples_test.cc.
//
// Calls block; one thread. Secret: all but d, e, h. Error: the session's; not enough left.
#pragma once

#include "lut/demux.h"
#include "lut/stock.h"

namespace tkdc::lut {

// Of octets, or of bits: labels of octets 0 and 1.
enum class Width : std::size_t { kBit = 1, kOctet = 8 };

class Triples {
 public:
  // Checked when they come back.
  static Result<Triples> make(Dealer& dealer, Width width, std::size_t count);

  std::size_t left() const { return stock_.left(); }
  std::size_t octets() const { return labels_.size() * kLabelBytes; }
  // x_k y_k, in one round.
  Result<Labels> multiply(Dealer& dealer, std::span<const Label> x, std::span<const Label> y);

 private:
  friend struct Inside;  // tests/unit/lut
  explicit Triples(Width width) : width_(width) {}
  Width width_;
  Stock stock_;
  Labels labels_;  // a, b, c of each
};

class BitMasks {
 public:
  static Result<BitMasks> make(Dealer& dealer, std::size_t count);

  std::size_t left() const { return stock_.left(); }
  std::size_t octets() const { return labels_.size() * kLabelBytes; }
  // Eight bits of each octet, the lowest first, in one round. What has been opened is to be checked
  // before anything is put out (dealer.h).
  Result<Labels> decompose(Dealer& dealer, std::span<const Label> octets);
  // The same of octets of which this party has its shares.
  Result<Labels> input(Dealer& dealer, ByteSpan own);

 private:
  friend struct Inside;  // tests/unit/lut
  BitMasks() = default;
  Result<Labels> take(Dealer& dealer, std::size_t count);
  Stock stock_;
  Labels labels_;  // eight bits of each
};

}  // namespace tkdc::lut
