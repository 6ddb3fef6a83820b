// SPDX-License-Identifier: Apache-2.0
// What two servers spend their time with, as an interface: random bits that are authenticated, ANDs
// of them, circuits that are garbled and evaluated. A session that is given none does it by
// oblivious transfer and garbling, which is the protocol. tests/sim has one in which both parties
// know everything, for runs in which the protocol's own cryptography is not what is looked at
// (docs/adr/0029-a-realm-in-a-bottle.md).
//
// One for each session, used by its thread; what it says goes by the session's channel. Bits that
// it draws fit under the session's Δ, so that openings, proofs and bridges are the product's own.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "pair/auth_bit.h"
#include "pair/bits.h"

namespace tkdc::pair {

class Session;
struct AuthAnd;      // pair/leaky_and.h
struct PairCircuit;  // pair/prepared.h
struct Prepared;
struct Evaluated;  // pair/online.h
using AuthAnds = std::vector<AuthAnd, WipingAllocator<AuthAnd>>;

class Steps {
 public:
  virtual ~Steps() = default;

  // Behind the seeds of a setup: the session's Δ are there.
  virtual Result<void> set_up(Session& session) = 0;
  virtual Result<void> draw(Session& session, std::span<AuthBit> out) = 0;
  virtual Result<AuthAnds> make_ands(Session& session, std::size_t ands) = 0;
  // `masks`: of a block, then of the inputs; what else there is, as many as garbling takes, is not
  // looked at.
  virtual Result<Prepared> prepare(Session& session, const PairCircuit& circuit,
                                   std::span<const AuthBit> masks) = 0;

  // ---- of a use (pair/online.h); `inputs`: their Λ
  // The garbler's, in place of labels; then the evaluator's values, and a digest of them.
  virtual Result<void> give_labels(Session& session, const Prepared& prepared) = 0;
  virtual Result<Evaluated> evaluate(Session& session, const Prepared& prepared,
                                     std::span<const std::uint8_t> inputs) = 0;
  virtual std::size_t values(const Prepared& prepared) const = 0;  // how many there are
  // What the digest of these values has to be, at the garbler.
  virtual Label expected(const Prepared& prepared, std::span<const std::uint8_t> inputs,
                         std::span<const std::uint8_t> values) = 0;
  // Λ of outputs.
  virtual Bits outputs(const Prepared& prepared, std::span<const std::uint8_t> values) const = 0;
};

// One for each session that is made.
using MakeSteps = std::function<std::unique_ptr<Steps>()>;

}  // namespace tkdc::pair
