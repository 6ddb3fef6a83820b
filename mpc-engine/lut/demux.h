// SPDX-License-Identifier: Apache-2.0
// Demux (Keller, Orsini, Rotaru, Scholl, Soria-Vazquez, Vivek, ACNS 2017, section 4.2, protocol 3):
// of a shared number s the one-hot vector e, e_j = 1 where j = s, else 0. Up to four bits by their
// protocol, a bit at a time; six or eight as the outer product of two vectors of half as many,
// which takes fewer random bits than their chain does once a product's leak is removed:
//
//   e ← (e ⊕ s_j e) ‖ s_j e        of s_j e all but the first are a string product; all sum to s_j
//   e_{n i + j} = q_i p_j          q, p: one-hot vectors of the high and low half, of n; likewise
//
// share level: labels of e sum to e_j Δ, and of both parties' bits 0 exactly one differs;
// tests/unit/lut/demux_test.cc.
//
// Calls block; one thread. Secret: s, e. Error: the session's. Nothing may be used before the
// dealer's check.
#pragma once

#include "lut/string_product.h"

namespace tkdc::lut {

// bits: [count][width], the lowest first. One-hot vectors: [count][2^width]. Widths: 1 to 4, 6, 8.
Result<Labels> demux(Dealer& dealer, std::span<const Label> bits, std::size_t width);

}  // namespace tkdc::lut
