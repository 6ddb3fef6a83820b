// SPDX-License-Identifier: Apache-2.0
// The bridge (pair/bridge.h) without a block of the pool, for keys of a pool of which none is left:
// a store was restored, or the last one has served (docs/protocols/26-two-server-keys.md, "The
// bridge in a circuit"). The sums of the proof are never said: a circuit compares them,
//
//   W ⊕ Q = V Δ    V = Σ c^(m+1−t) X_t of the session's bits, the same sums W of MACs and Q of keys
//
//   both   a digest of the key's name and of its pool                   32
//   both   own blocks ⊕ fresh bits of the session                       16 each
//   both   a coin                                                       16
//   both   a circuit, made for it: for each direction V is held, W, Q and Δ are each party's own;
//          two outputs: whether the evaluator's blocks fit; whether the garbler's do, ⊕ ρ of it
//   then   the garbler tells ρ under its MAC                            17
//
// So nothing of what is stored serves once, and it may be done as often as there are sessions.
// Calls block; one thread. Secret: all of it. Error: as bridge().
#pragma once

#include "pair/bridge.h"

namespace tkdc::pair {

// Bits of all blocks in their order.
Result<Held> bridge_in_circuit(Session& session, const Pool& pool, const StoredBlocks& stored,
                               ByteSpan name);

// Its two parts, for tests that take one party's place: up to the circuit's outputs; and what is
// made of these, which ends the session where they do not fit.
struct Compared {
  AuthBits bits;  // of all blocks
  Bits fits;      // the evaluator's; the garbler's ⊕ ρ
  AuthBit mask;   // ρ
};
Result<Compared> compare_in_circuit(Session& session, const Pool& pool, const StoredBlocks& stored,
                                    ByteSpan name);
Result<void> look_at(Session& session, const Compared& compared);

// What that circuit has of ANDs.
std::uint64_t bridge_circuit_ands();

// V of bits of which this party has labels, its MACs or its keys, by what follows from the labels
// alone: 128 of them. For tests too.
Labels labels_of_sum(std::span<const Label> labels, const Label& coin);

}  // namespace tkdc::pair
