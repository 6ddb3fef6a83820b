// SPDX-License-Identifier: Apache-2.0
// A dealer between two parties: what it needs, their session has.
//
// τ_A = τ_B if what was opened is right, so check() compares ⊕ H(τ_j, j), as pair/session.h has it
// for MACs, by commitment and opening. What is expected is the session's account: check() of one
// dealer compares what all of them have opened.
#pragma once

#include "lut/dealer.h"

namespace tkdc::lut {

class PairDealer final : public Dealer {
 public:
  // `at_once`: how many bits are drawn together.
  explicit PairDealer(pair::Session& session, std::size_t at_once = kAtOnce)
      : Dealer({&session}, part_of_delta(session.deltas()), at_once, 0, session.expected()) {}

  Side side() const { return session().side(); }
  Error end(std::size_t, const std::string& why) override { return session().end(why); }
  Result<Label> coins() override { return session().coins(); }
  Result<void> check(pair::Verdict verdict = pair::Verdict::kOnGuesses) override;

 private:
  Result<void> fill(std::span<AuthBit> bits) override { return session().draw(bits); }
};

}  // namespace tkdc::lut
