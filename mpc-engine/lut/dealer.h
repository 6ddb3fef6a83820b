// SPDX-License-Identifier: Apache-2.0
// What string products, tables and the online phase need of a session: random bits as labels, the
// exchange of openings, and one check of all of them.
//
// An opening is a sum of shares that both send. That it was right shows later: each party expects
// of an opened value w with MAC M_own
//
//   τ_own = M_own ⊕ w Δ_own      τ_A = τ_B if and only if w is what the MACs say
//
// and check() compares ⊕ H(τ_j, j), as pair/session.h has it for MACs, by commitment and opening.
// Nothing that depends on a secret and is not masked may be opened or used before check(). What is
// expected is the session's account: check() of one dealer compares what all of them have opened.
//
// share level: τ_A ⊕ τ_B = x Δ ⊕ w Δ, tests/unit/lut/products_test.cc.
//
// Calls block; one thread. Secret: bits, labels, τ. Error: the session's.
#pragma once

#include "lut/label.h"
#include "pair/session.h"

namespace tkdc::lut {

class Dealer {
 public:
  // `at_once`: how many bits are drawn together.
  explicit Dealer(pair::Session& session, std::size_t at_once = kAtOnce);
  Dealer(const Dealer&) = delete;

  pair::Session& session() { return session_; }
  const pair::Session& session() const { return session_; }
  Side side() const { return session_.side(); }
  // This party's part of Δ, and that of octets.
  const Label& part() const { return part_[0]; }
  const Label& octet_part() const { return part_[1]; }
  // Its label of a public octet; the octet's multiple of that part.
  const Label& multiple(std::uint8_t octet) const { return multiples_[octet]; }

  // How many random bits are there, until others have to be drawn.
  std::size_t ready() const { return bits_.size() - used_; }
  // Random bits that nobody has had before.
  Result<void> draw(std::span<AuthBit> out);
  Result<void> draw(std::span<Label> out);

  // Both send octets, and get the sum of both.
  Result<void> exchange(MutableByteSpan own);
  // Opens octets, for the next check(): `values` are as many.
  Result<void> open(std::span<const Label> octets, MutableByteSpan values);
  // For the next check() of whatever dealer of the session.
  void expect(const Label& tau) { expected_.add(tau); }
  // A string that has been opened as `value`.
  void expect(const String& opened, const Label& value) {
    expect(opened.mac ^ field().product(part(), value));
  }
  Result<void> check(pair::Verdict verdict = pair::Verdict::kOnGuesses);

 private:
  static constexpr std::size_t kAtOnce = 8 * (256 - 1) * ot::kBlockRows;
  template <class Out, class Convert>
  Result<void> draw_as(std::span<Out> out, const Convert& convert);

  pair::Session& session_;
  Labels part_, multiples_;
  const std::size_t at_once_;
  AuthBits bits_;
  std::size_t used_ = 0;
  pair::Expected& expected_;
  Bytes peers_;
};

}  // namespace tkdc::lut
