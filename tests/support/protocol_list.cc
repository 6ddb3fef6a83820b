// SPDX-License-Identifier: Apache-2.0
// What programs of tests have: the installed server's protocols, and those that nobody may trust.
// Tests of modes run with each of them (tests/unit/cipher), and a realm can have any of them
// (tkdc-server-of-tests).
#include "service/server/protocol_list.h"
#include "protocol/plaintext.h"
#include "unit/toy/toy.h"

namespace tkdc {

std::span<const KnownProtocol> known_protocols() {
  static constexpr KnownProtocol kKnown[] = {
      {"rep3", make_rep3},
      {"plaintext", make_offer<PlaintextOffer>},
      {"toy", make_offer<test::ToyOffer>},
  };
  return kKnown;
}

}  // namespace tkdc
