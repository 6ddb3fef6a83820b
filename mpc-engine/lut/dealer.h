// SPDX-License-Identifier: Apache-2.0
// What string products, tables and the online phase need of the sessions between parties: random
// bits as labels, the exchange of openings, and one check of all of them. Between two parties
// (pair_dealer.h), or more (multi_dealer.h).
//
// An opening is a sum of shares that all send. That it was right shows later: each party expects
// of an opened value w with MAC M_own
//
//   τ_own = M_own ⊕ w Δ_own      ⊕ τ = 0 if and only if w is what the MACs say
//
// and check() compares them. Nothing that depends on a secret and is not masked may be opened or
// used before check().
//
// share level: ⊕ τ = x Δ ⊕ w Δ, tests/unit/lut/products_test.cc.
//
// Calls block; one thread. Secret: bits, labels, τ. Error: the session's.
#pragma once

#include "lut/label.h"
#include "pair/session.h"

namespace tkdc::lut {

class Dealer {
 public:
  Dealer(const Dealer&) = delete;
  virtual ~Dealer() = default;

  // With each other party, in the order of their numbers. What is made belongs to the first.
  std::span<pair::Session* const> sessions() const { return sessions_; }
  pair::Session& session() { return *sessions_.front(); }
  const pair::Session& session() const { return *sessions_.front(); }
  const Label& delta() const { return session().delta(); }
  Result<void> stands() const;
  // Something failed in session p: it ends, and with it all of them.
  virtual Error end(std::size_t p, const std::string& why) = 0;
  // This party's part of Δ, and that of octets.
  const Label& part() const { return part_[0]; }
  const Label& octet_part() const { return part_[1]; }
  // Its label of a public octet; the octet's multiple of that part.
  const Label& multiple(std::uint8_t octet) const { return multiples_[octet]; }

  // How many random bits are there, until others have to be drawn.
  std::size_t ready() const { return at_once_ - used_; }
  // Random bits that nobody has had before.
  Result<void> draw(std::span<Label> out);
  // With what is known of each towards each other party: [session][count].
  Result<void> draw(std::span<AuthBit> out);

  // All send octets, and get the sum of all.
  virtual Result<void> exchange(MutableByteSpan own);
  // 16 octets that nobody chooses.
  virtual Result<Label> coins() = 0;
  // Opens octets, for the next check(): `values` are as many.
  Result<void> open(std::span<const Label> octets, MutableByteSpan values);
  // For the next check().
  void expect(const Label& tau) { account_.add(tau); }
  // A string that has been opened as `value`.
  void expect(const String& opened, const Label& value) {
    expect(opened.mac ^ field().product(part(), value));
  }
  virtual Result<void> check(pair::Verdict verdict = pair::Verdict::kOnGuesses) = 0;

 protected:
  static constexpr std::size_t kAtOnce = 8 * (256 - 1) * ot::kBlockRows;

  // `at_once`: how many bits are drawn together, beside `spare` ones. `account`: of what is
  // expected; it outlives the dealer.
  Dealer(std::vector<pair::Session*> sessions, const Label& part, std::size_t at_once,
         std::size_t spare, pair::Expected& account);

  // New bits, as many as are drawn together: [session][at_once + spare].
  virtual Result<void> fill(std::span<AuthBit> bits) = 0;
  // What an exchange has given all.
  virtual void opened(ByteSpan) {}
  // As draw(): `take(at, some, done)` of bits_ from `at` on, as many, behind what is done.
  template <class Take>
  Result<void> draw_in_pieces(std::size_t count, const Take& take);

 private:
  const std::vector<pair::Session*> sessions_;
  Labels part_, multiples_;
  const std::size_t at_once_, stride_;
  AuthBits bits_;
  std::size_t used_;
  Bytes theirs_;
  pair::Expected& account_;
};

}  // namespace tkdc::lut
