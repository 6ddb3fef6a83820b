// SPDX-License-Identifier: Apache-2.0
// A dealer among several parties, each with a session to each other one; all but one may be changed
// (docs/protocols/24-lookup-tables.md, "Several parties"). After the authenticated shares of Wang,
// Ranellucci, Katz, "Global-Scale Secure Multiparty Computation", CCS 2017.
//
//   bits      x_own is this party's towards all: it tells each how the session's random bit differs
//   label     L_own = x_own Δ_own ⊕ Σ (key ⊕ mac) over the sessions;  ⊕ L = x Δ,  Δ = ⊕ Δ_own
//
// Two parties that are honest may be told different things. Each is found by what is compared:
//
//   own bits that differ     coins ψ when all are there; Σ ψ x ⊕ a mask, the same for all, with its
//                            MAC towards each; once for all bits that are drawn together
//   Δ that differ            128 bits; each commits to Σ (key ⊕ mac) and to that with Δ_own added,
//                            then own bits are opened, then the one that fits all others' bits: all
//                            add up to 0; once
//   openings that differ     a digest of all that was opened, compared by check()
//   coins that differ        commitments are of a party's number, and all compare what they got of
//                            everybody before one is opened
//
//   check     coins ψ; T = Σ ψ τ_own; ⊕ T = 0 if each opening is what the MACs say
//
// T is not opened: by a sum that is not 0 somebody would know a Δ, and with it what was masked
// under it. ρ T is, for a ρ that is shared: T's bits choose, under 128 fresh own bits, between rows
// of another party's ρ_p X^k. It is 0, or random.
//
// share level: labels of all sum to x Δ, T of all to 0, tests/unit/lut/multi_dealer_test.cc.
//
// Calls block; one thread; all parties call alike. Secret: bits, labels, τ, what is committed to.
// Error: the sessions', which all end with the first of them that fails.
#pragma once

#include "lut/dealer.h"

namespace tkdc::lut {

class MultiDealer final : public Dealer {
 public:
  // Of party `own`; `sessions` are those with each other one in the order of their numbers, all
  // with this party's Δ. `at_once`: how many bits are drawn together. Error also: several Δ.
  static Result<std::unique_ptr<MultiDealer>> create(std::vector<pair::Session*> sessions,
                                                     std::size_t own,
                                                     std::size_t at_once = kAtOnce);
  // Ends the sessions where something has been opened since the last check.
  ~MultiDealer() override;

  Error end(std::size_t p, const std::string& why) override;
  Result<void> exchange(MutableByteSpan own) override;
  Result<Label> coins() override;
  Result<void> check(pair::Verdict verdict = pair::Verdict::kOnGuesses) override;

 private:
  using All = std::vector<Bytes>;  // of each party, by its number
  friend struct InsideMulti;       // tests/unit/lut
  static constexpr std::size_t kMaskBits = 128, kDeltaChecks = 128,
                               kFoldedAt = std::size_t{1} << 16;

  MultiDealer(std::vector<pair::Session*> sessions, std::size_t own, std::size_t at_once);
  std::size_t parties() const { return sessions().size() + 1; }
  std::size_t number_of(std::size_t session) const { return session + (session < own_ ? 0 : 1); }

  // What each says; what it has said to all alike.
  Result<All> tell(ByteSpan own);
  Result<All> tell_all_alike(ByteSpan own);
  // What each says, committed to before anybody has heard another one's.
  Result<All> reveal(ByteSpan own);

  Result<void> fill(std::span<AuthBit> bits) override;
  void opened(ByteSpan octets) override;
  Result<void> settle_own_bits(std::span<AuthBit> bits);
  Result<void> compare_own_bits(std::span<const AuthBit> bits);
  Result<void> compare_deltas();
  Result<void> fold();
  // ρ times the sum of all T, for a ρ of which each party draws a share: 0, or it says nothing.
  Result<Label> masked_sum(const Label& own);
  class Masking;

  const std::size_t own_;
  crypto_generichash_state all_opened_;
  bool unchecked_ = false;
  Labels taus_, folded_;
  pair::Expected waiting_;
};

}  // namespace tkdc::lut
