// SPDX-License-Identifier: Apache-2.0
// Between authenticated bits of a session, which circuits take (pair/inputs.h), and octets under
// one MAC, which tables take (label.h). Both are of one session, so under its Δ.
//
//   in    eight bits, the lowest first, are an octet: each party's own work, and no message
//   out   ρ, a random octet of which both have the bits: d = x ⊕ ρ is opened and checked with all
//         that was opened before; bit j of x is ρ_j moved by d_j
//
// d is uniform to either party, since the honest one's part of ρ is. Nothing comes out before the
// check: so no circuit ever takes a bit that hangs on a wrong opening.
//
// Each ρ serves once (stock.h), and its bits are wiped then: two values under one would open their
// exclusive-or.
//
// share level: own bits of both sum to x, each with the MAC that the other's key says;
// tests/unit/lut/bits_out_test.cc.
//
// Calls block; one thread. Secret: bits, labels, ρ. Public to both: d. Error: the session's; bits
// of another session; not enough left.
#pragma once

#include "lut/pair_dealer.h"
#include "lut/stock.h"
#include "pair/inputs.h"

namespace tkdc::lut {

// Error: bits of another session, or no whole octets.
Result<Labels> octets_of(PairDealer& dealer, const pair::Held& held);

class BitsOut {
 public:
  static Result<BitsOut> make(PairDealer& dealer, std::size_t octets);
  std::size_t left() const { return stock_.left(); }
  // Whether so many octets can leave in this session. Error: as take()'s, before a word.
  Result<void> fits(const pair::Session& session, std::size_t count) const {
    return stock_.fits(session, count);
  }
  std::size_t octets() const { return bits_.size() * sizeof(AuthBit); }

  Result<pair::Held> take(PairDealer& dealer, std::span<const Label> octets);

 private:
  friend struct Inside;  // tests/unit/lut
  BitsOut() = default;
  Stock stock_;
  AuthBits bits_;  // eight of each
};

}  // namespace tkdc::lut
