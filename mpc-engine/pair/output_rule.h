// SPDX-License-Identifier: Apache-2.0
// The rule for outputs that a client gets: the circuit opens z = y ⊕ r to both servers, where r is
// a random pad that the client dealt to them in shares, as long as the output. Both send z; the
// client compares and takes r away. So the servers learn nothing of y, and neither alone changes
// what the client gets, provided that inputs are authenticated, the pad too: pair/dealt.h.
// Secret: y, r. Public to both servers: z.
#pragma once

#include "circuit/circuit.h"
#include "pair/dealt.h"

namespace tkdc::pair {

// Which outputs are masked. `bare`: so many of the first ones are what both servers may know, as
// whether a check held. `whole_blocks`: each of the others is filled up with zeros to whole blocks
// before, since it is to be stored (pair/bridge.h).
struct PadRule {
  std::size_t bare = 0;
  bool whole_blocks = false;
};
// The same outputs, with the bits of a last input, the pad, added to those that are masked.
circuit::Circuit with_pad(const circuit::Circuit& circuit, const PadRule& rule = {});

}  // namespace tkdc::pair
