// SPDX-License-Identifier: Apache-2.0
// 3DES-PV: a DES S-box as p(X) q(X) + r(X) over GF(2^8), after Pulkus, Vivek (CHES 2016), as Keller
// and others (ACNS 2017, sections 3.2 and 4.3) count it: three products and three octets' bits, in
// five rounds.
//
//   X is an octet of the six bits; p, q, r are sums of 1 and of X^(2^i), X^(3 2^i), X^(7 2^i)
//
//   X^3 = X X^2     X^7 = X^3 X^4     bits of X^3 and X^7     p(X) q(X)     bits of the sum
//
// Of the sum four bits are S(X), and the other four are as they come. q is drawn by a fixed
// generator; p and r then solve 256 linear equations in 400 bits. They are made when first asked
// for, some milliseconds, and are public.
//
// share level: labels of both sum to bits of S(x), times (1, Δ); tests/unit/lut/des_test.cc.
//
// Calls block; one thread. Secret: labels. Error: the session's; not enough left.
#pragma once

#include "lut/des.h"

namespace tkdc::lut {

// 1; X, X^2, X^4, …; X^3, X^6, …; X^7, X^14, …
inline constexpr std::size_t kTerms = 1 + 3 * 8;
struct DesPolynomials {
  std::array<std::uint8_t, kTerms> p, q, r;
};
const std::array<DesPolynomials, kDesBoxes>& des_polynomials();

class DesByPolynomials {
 public:
  // For so many S-boxes. Checked when they come back.
  static Result<DesByPolynomials> make(Dealer& dealer, std::size_t count);

  std::size_t left() const { return triples_.left() / 3; }
  std::size_t octets() const { return triples_.octets() + masks_.octets(); }
  // As SubstituteSix. What has been opened is to be checked before anything is put out (dealer.h).
  Result<void> substitute(Dealer& dealer, std::span<const Label> in, std::span<Label> out);

 private:
  friend struct Inside;  // tests/unit/lut
  DesByPolynomials(Triples triples, BitMasks masks)
      : triples_(std::move(triples)), masks_(std::move(masks)) {}
  Triples triples_;
  BitMasks masks_;
};

}  // namespace tkdc::lut
