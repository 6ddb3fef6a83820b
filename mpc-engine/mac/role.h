// SPDX-License-Identifier: Apache-2.0
// Who is who where one server proves to another what it holds (docs/protocols/23-share-macs.md).
//
// The prover and the dealer are the two holders of a component, the verifier is the third party,
// which lacks it. Six roles in all; each party is in each of the three places twice.
#pragma once

#include <array>
#include <cstdint>

namespace tkdc {

struct MacRole {
  int prover = 0, verifier = 0;

  int dealer() const { return 3 - prover - verifier; }
  // Which component it is about: party p lacks x_{p+2}.
  int component() const { return (verifier + 2) % 3; }
  // Which of the prover's two it is.
  std::size_t place() const { return component() == prover ? 0 : 1; }
  bool operator==(const MacRole&) const = default;
};

// The neighbour of `party` on that side: 0 the previous one, 1 the next one.
constexpr int mac_neighbour(int party, std::size_t side) {
  return (party + (side == 0 ? 2 : 1)) % 3;
}

}  // namespace tkdc
