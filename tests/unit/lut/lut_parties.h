// SPDX-License-Identifier: Apache-2.0
// Two parties with a dealer each, and what both have put together.
#pragma once

#include "lut/demux.h"
#include "pair/pair_parties.h"

namespace tkdc::lut {

using ot::Change;
using ot::Outcome;

inline constexpr std::size_t kFewBits = 2 * 15 * 128;  // two batches of small_batches()

using DealerBody = std::function<Result<void>(Dealer&)>;

// `at_once`: of the dealers.
inline Outcome with_dealers(const DealerBody& garbler, const DealerBody& evaluator, int cheat = 0,
                            Change change = {}, std::size_t at_once = kFewBits) {
  const auto party = [&](const DealerBody& body) {
    return [&](pair::Session& session) -> Result<void> {
      Dealer dealer(session, at_once);
      return body(dealer);
    };
  };
  return pair::with_sessions(party(garbler), party(evaluator), cheat, change);
}

// The same body at both; it is told which party it is.
inline Outcome with_dealers(const std::function<Result<void>(Dealer&, int)>& body, int cheat = 0,
                            Change change = {}, std::size_t at_once = kFewBits) {
  return with_dealers([&](Dealer& dealer) { return body(dealer, 0); },
                      [&](Dealer& dealer) { return body(dealer, 1); }, cheat, change, at_once);
}

// Labels of both are those of a bit: of which.
inline std::uint64_t bit_of(const Label& a, const Label& b, const Label& delta) {
  const Label sum = a ^ b;
  EXPECT_TRUE(sum == Label{} || sum == delta);
  return sum.low & 1;
}

// What both parties have of the same thing.
template <class T>
struct Both {
  T of[2];
  Label part[2];
  Label delta() const { return part[0] ^ part[1]; }
};

}  // namespace tkdc::lut
