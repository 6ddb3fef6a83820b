// SPDX-License-Identifier: Apache-2.0
// The online phase: a prepared circuit is used, once, on shared inputs (pair/inputs.h). The
// evaluator learns the outputs first, and may stop before the garbler does. Nobody else says
// anything that depends on inputs before it has found that the other one did as it should.
//
//   both                what pair/inputs.h says: Λ of inputs
//   garbler → evaluator labels of inputs for Λ; a coin
//   evaluator           compares the labels' colours with Λ: else it ends here
//   evaluator → garbler a coin; its proof; Λ of all ANDs, and a digest of their labels
//   garbler             recomputes the labels from Λ and compares; checks the proof: else it ends
//   garbler → evaluator its verdict; its proof; digest of its MACs on z_α z_β ⊕ z_γ of all ANDs,
//                       which must be 0; then its shares of output masks under MACs
//   evaluator           compares both, checks the proof: else it ends here
//   evaluator → garbler its verdict; its shares of output masks under MACs
//
// Coins, proofs (pair/proof.h) and verdicts are there where a client has dealt something. Where its
// MACs do not fit, it may be the client who is wrong, or either server: the verdict is 0, nothing
// follows, and the session goes on.
//
// Digests: ⊕ H(label, j), H that of rows (ot/row_hash.h) under keys of this use, no j twice. Calls
// block; one thread. Secret: inputs, labels; the outputs are what both may know.
#pragma once

#include "pair/inputs.h"

namespace tkdc::pair {

// How a job went here, and so what the peer knows of it.
enum class Went : std::uint8_t {
  kDone,
  kRefused,  // before a word was said: the peer may be waiting for one, and has to be told
  kDropped,  // both know, and stand at the same place of the session: the next job may follow
  kEnded,    // the session: Session::ended_by()
};
class [[nodiscard]] JobResult : public Result<Bits> {
 public:
  JobResult(Bits outputs) : Result<Bits>(std::move(outputs)), went_(Went::kDone) {}
  JobResult(Error error, Went went) : Result<Bits>(std::move(error)), went_(went) {}
  Went went() const { return went_; }

 private:
  Went went_;
};

// The output bits, in their order. `prepared` and `inputs` have served then, whatever comes of it,
// unless it was refused.
JobResult compute(Session& session, Prepared& prepared, Inputs& inputs);

// Steps of it, for tests that take one party's place.
struct Evaluated {
  Bits values;   // Λ of ANDs
  Label digest;  // of their labels
};
// Labels of inputs come from the channel; `inputs`: their Λ, which colours have to be.
Result<Evaluated> evaluate(Session& session, const Prepared& prepared,
                           std::span<const std::uint8_t> inputs);
// Λ of every AND's operands and output, from those of inputs and ANDs: three of each.
Bits operands_of(const PairCircuit& circuit, std::span<const std::uint8_t> inputs,
                 std::span<const std::uint8_t> values, Bits& outputs);
// The garbler's digest of MACs, and what the evaluator expects.
Label mac_digest(const Session& session, const Prepared& prepared,
                 std::span<const std::uint8_t> operands);

}  // namespace tkdc::pair
