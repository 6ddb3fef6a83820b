// SPDX-License-Identifier: Apache-2.0
// Demux (Keller, Orsini, Rotaru, Scholl, Soria-Vazquez, Vivek, ACNS 2017, section 4.2, protocol 3):
// of a shared number s the one-hot vector e, e_j = 1 where j = s, else 0. Four bits by their
// protocol, a bit at a time; eight as the outer product of two vectors of four, which takes fewer
// random bits than their chain does once a product's leak is removed:
//
//   e ← (e ⊕ s_j e) ‖ s_j e        of s_j e all but the first are a string product; all sum to s_j
//   e_{16 i + j} = q_i p_j         q, p: one-hot vectors of the high and low four bits; likewise
//
// share level: labels of e sum to e_j Δ, and of both parties' bits 0 exactly one differs;
// tests/unit/lut/demux_test.cc.
//
// Calls block; one thread. Secret: s, e. Error: the session's. Nothing may be used before the
// dealer's check.
#pragma once

#include "lut/string_product.h"

namespace tkdc::lut {

// bits: [count][4], the lowest first. One-hot vectors: [count][16].
Result<Labels> demux_four(Dealer& dealer, std::span<const Label> bits);
// bits: [count][8]. One-hot vectors: [count][256].
Result<Labels> demux_eight(Dealer& dealer, std::span<const Label> bits);

}  // namespace tkdc::lut
