// SPDX-License-Identifier: Apache-2.0
// The online phase: a prepared circuit is used, once, on inputs that are shared x = x_A ⊕ x_B. The
// evaluator learns the outputs first, and may stop before the garbler does. Nobody else says
// anything that depends on inputs before it has found that the other one did as it should.
//
//   both                x_own ⊕ own share of λ, for each input bit: Λ of inputs
//   garbler → evaluator labels of inputs for Λ
//   evaluator           compares the labels' colours with Λ: else it ends here
//   evaluator → garbler Λ of all ANDs, and a digest of their labels
//   garbler             recomputes the labels from Λ and compares: else it ends here
//   garbler → evaluator digest of its MACs on z_α z_β ⊕ z_γ of all ANDs, which must be 0; then its
//                       shares of output masks under MACs
//   evaluator           compares both: else it ends here
//   evaluator → garbler its shares of output masks under MACs
//
// Digests: ⊕ H(label, j), H that of rows (ot/row_hash.h) under keys of this use, no j twice. Calls
// block; one thread. Secret: inputs, labels; the outputs are what both may know. Error: the
// session's, which then has ended.
#pragma once

#include "pair/prepared.h"

namespace tkdc::pair {

// `own`: this party's share of each input bit. The output bits, in their order.
Result<Bits> compute(Session& session, Prepared& prepared, std::span<const std::uint8_t> own);

// Steps of it, for tests that take one party's place.
Result<Bits> exchange_inputs(Session& session, const Prepared& prepared,
                             std::span<const std::uint8_t> own);
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
