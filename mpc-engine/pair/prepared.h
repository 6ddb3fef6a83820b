// SPDX-License-Identifier: Apache-2.0
// A circuit garbled ahead, for one use (Katz, Ranellucci, Rosulek, Wang 2018, sections 3 and 4.2:
// authenticated garbling with half-gates; docs/protocols/22-authenticated-garbling.md).
//
// Each wire w has a mask λ_w that both share, authenticated; what the evaluator sees of its value
// z_w is Λ_w = z_w ⊕ λ_w. Masks of inputs and of ANDs' outputs are random, others follow. For an
// AND γ = α β both open λ_α ⊕ x and λ_β ⊕ y of a ready AND, which gives shares of λ_α λ_β. The
// garbler's labels are L_w for Λ_w = 0, with colour 0, and L_w ⊕ Δ_A. With X_w = key(w) ⊕ r_w Δ_A
// at the garbler, so that X_w ⊕ mac(w) at the evaluator is λ_w Δ_A,
//
//   T_G = H(L_α, j) ⊕ H(L_α ⊕ Δ_A, j) ⊕ X_β
//   T_E = H(L_β, j') ⊕ H(L_β ⊕ Δ_A, j') ⊕ L_α ⊕ X_α
//   L_γ = H(L_α, j) ⊕ H(L_β, j') ⊕ X_c, its colour b sent and taken away    λ_c = λ_γ ⊕ λ_α λ_β
//
// Where a complement is meant, the mask is the complement instead of the value. That is what the
// kernels of garbling make where colours are 0, and three additions (half_gates/reference.cc).
//
// On the wire: the opened bits with a digest; then garbler → evaluator keys of π, tables and bits
// b, 32 octets and a bit for each AND. Calls block; one thread. Secret: masks, labels. Public:
// tables, bits b.
#pragma once

#include "circuit/schedule.h"
#include "garble/garbler.h"
#include "pair/auth_block.h"
#include "pair/buckets.h"

namespace tkdc::pair {

// A schedule and the same without its complements, which stand in masks.
struct PairCircuit {
  explicit PairCircuit(circuit::Schedule of);
  circuit::Schedule schedule, plain;
  std::uint64_t ands;
  std::size_t input_bits() const { return circuit::Circuit::total(schedule.inputs); }
};

// Of an AND: λ_α and λ_β with their complements, and λ_c.
struct GateMasks {
  AuthBit a, b, c;
};

// Served once, in the session that made it: so it cannot be copied.
struct Prepared {
  Prepared() = default;
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  Prepared(Prepared&&) = default;
  Prepared& operator=(Prepared&&) = default;

  Label session;  // Session::id()
  const PairCircuit* circuit = nullptr;
  AuthBits inputs, outputs;  // masks; an output's without its complement
  AuthBits proof_mask;       // of a random block in a proof of inputs
  std::vector<GateMasks, WipingAllocator<GateMasks>> gates;
  // The garbler's: labels for Λ = 0 of inputs and ANDs. The evaluator has colours b in `turns`.
  Labels input_labels, gate_labels;
  Bits turns;
  Bytes tables;             // the evaluator's, its MACs added
  std::vector<Label> keys;  // of π, for 2^17 ANDs each
  Label digest_seed;        // of the labels' and MACs' digests
  bool used = false;
};

// How many random bits a use takes: masks of inputs and of ANDs, and of one block for a proof.
inline std::size_t masks_of(const PairCircuit& circuit) {
  return circuit.input_bits() + circuit.ands + kBlockBits;
}

// `ands`: circuit.ands of them, never used again; `masks`: masks_of(circuit) random bits. `circuit`
// outlives what is prepared. Error: another number of them; the session's.
Result<Prepared> prepare(Session& session, const PairCircuit& circuit,
                         std::span<const AuthAnd> ands, std::span<const AuthBit> masks);

}  // namespace tkdc::pair
