// SPDX-License-Identifier: Apache-2.0
// AES-BD and AES-RP: AES's S-box as x^254 and its affine map, by products of octets where tables
// look it up (Keller and others, ACNS 2017, sections 3.1 and 4.3).
//
//   AES-BD   bits of x, of which all squares are sums; after Damgård, Keller, Larraia, Miles, Smart
//            (SCN 2012): x^254 = ((x^2 x^4) (x^8 x^16)) ((x^32 x^64) x^128), six products
//   AES-RP   the chain of Rivain, Prouff (CHES 2010): x^3 = x x^2, x^14 = x^12 x^2,
//            x^15 = x^12 x^3, x^254 = x^240 x^14: four products, and bits of x^3 and x^15, too
//   both     bits of x^254, of which the affine map is a sum
//
// Of an S-box five messages and two octets' bits, or seven and four.
//
// share level: labels of both sum to S(x) (1, Δ); tests/unit/lut/aes_powers_test.cc.
//
// Calls block; one thread. Secret: all of it. Error: the session's; not enough left.
#pragma once

#include "lut/triples.h"

namespace tkdc::lut {

enum class Powers { kAllSquares, kShortChain };  // AES-BD, AES-RP

class PowerBoxes {
 public:
  // For so many S-boxes. Checked when they come back.
  static Result<PowerBoxes> make(Dealer& dealer, Powers powers, std::size_t count);

  std::size_t left() const;
  std::size_t octets() const { return triples_.octets() + masks_.octets(); }
  // Replaces octets by their S-box's. What has been opened is to be checked before anything is put
  // out (dealer.h).
  Result<void> look_up(Dealer& dealer, std::span<Label> octets);

 private:
  friend struct Inside;  // tests/unit/lut
  PowerBoxes(Powers powers, Triples triples, BitMasks masks)
      : powers_(powers), triples_(std::move(triples)), masks_(std::move(masks)) {}
  Result<Labels> by_all_squares(Dealer& dealer, std::span<const Label> octets);
  Result<Labels> by_short_chain(Dealer& dealer, std::span<const Label> octets);
  Powers powers_;
  Triples triples_;
  BitMasks masks_;
};

}  // namespace tkdc::lut
