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
// Coins, proofs (pair/proof.h) and verdicts are there where an agent has dealt something. Where its
// MACs do not fit, it may be the agent who is wrong, or either server: the verdict is 0, nothing
// follows, and the session goes on.
//
// Digests: ⊕ H(label, j), H that of rows (ot/row_hash.h) under keys of this use, no j twice. Calls
// block; one thread. Secret: inputs, labels; the outputs are what both may know. Error: the
// session's, which then has ended; or, where it still stands, that the job was dropped.
#pragma once

#include "pair/inputs.h"

namespace tkdc::pair {

// The output bits, in their order. `inputs` have served then, whatever comes of it.
Result<Bits> compute(Session& session, Prepared& prepared, Inputs& inputs);

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
