// SPDX-License-Identifier: Apache-2.0
// The rule for outputs that an agent gets: the circuit opens z = y ⊕ r to both servers, where r is
// a random pad that the agent dealt to them in shares, as long as the output. Both send z; the
// agent compares and takes r away. So the servers learn nothing of y, and neither alone changes
// what the agent gets, provided that inputs are authenticated, the pad too: pair/dealt.h.
// Secret: y, r. Public to both servers: z.
#pragma once

#include "circuit/circuit.h"
#include "pair/session.h"

namespace tkdc::pair {

// The same outputs, each with the bits of a last input, the pad, added.
circuit::Circuit with_pad(const circuit::Circuit& circuit);

// The agent's shares of a secret for both servers.
std::array<Bits, 2> deal(std::span<const std::uint8_t> secret);

// What the agent takes: y. Error: the servers sent different values.
Result<Bits> combine(std::span<const std::uint8_t> from_garbler,
                     std::span<const std::uint8_t> from_evaluator,
                     std::span<const std::uint8_t> pad);

}  // namespace tkdc::pair
