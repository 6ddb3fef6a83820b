// SPDX-License-Identifier: Apache-2.0
// What a party has to find of the peer's inputs before it says anything of outputs, and what it
// refuses before it says anything at all. Each answers an attack of docs/protocols/26.
//
// A file of its own: the controls of these attacks replace it
// (tests/unit/pair/unchecked_inputs.cc).
#pragma once

#include "pair/auth_block.h"

namespace tkdc::pair {

// Whether a proof's MAC is the one that its value has to have; in constant time, and public.
bool mac_fits(const Label& expected, const Label& said);

// Whether inputs, or a deal's number, have not served yet: of what a client dealt, two proofs give
// a share away.
bool is_unused(bool used);

// Whether what is stored and the random block of its proof are of one pool, under one Δ: of a proof
// with two, who has both Δ computes what is proved.
bool one_delta(const Label& pool, const Label& other);
// Whether a circuit that has compared what both have stored says that it fits.
bool stored_fits(std::uint8_t said);
// Where two servers go on in their pool: with no block that either has used.
std::uint64_t first_of(std::uint64_t own, std::uint64_t peers);

}  // namespace tkdc::pair
