// SPDX-License-Identifier: Apache-2.0
// What programs of tests have: the installed server's protocols, and those that nobody may trust.
// Tests of modes run with each of them (tests/unit/cipher), and a realm can have any of them
// (tkdc-server-of-tests).
#include "service/server/protocol_list.h"
#include "protocol/plaintext.h"
#include "unit/toy/toy.h"

namespace tkdc {
namespace {

template <class Offer>
Result<std::shared_ptr<const ProtocolOffer>> make(const ServerConfig&) {
  return std::shared_ptr<const ProtocolOffer>(std::make_shared<const Offer>());
}

}  // namespace

std::span<const KnownProtocol> known_protocols() {
  static constexpr KnownProtocol kKnown[] = {
      {"rep3", make_rep3},
      {"plaintext", make<PlaintextOffer>},
      {"toy", make<test::ToyOffer>},
  };
  return kKnown;
}

}  // namespace tkdc
