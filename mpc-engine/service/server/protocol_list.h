// SPDX-License-Identifier: Apache-2.0
// The one list of protocols that a program has: protocol_list.cc in the installed server, a file of
// their own in programs of tests (tests/support/protocol_list.cc).
#pragma once

#include <span>
#include <string_view>

#include "protocol/offer.h"
#include "service/server/config.h"

namespace tkdc {

struct KnownProtocol {
  std::string_view name;
  Result<std::shared_ptr<const ProtocolOffer>> (*make)(const ServerConfig& config);
};

std::span<const KnownProtocol> known_protocols();

// For a protocol that needs nothing of the configuration.
template <class Offer>
Result<std::shared_ptr<const ProtocolOffer>> make_offer(const ServerConfig&) {
  return std::shared_ptr<const ProtocolOffer>(std::make_shared<const Offer>());
}

// Replicated sharing, which every list has.
Result<std::shared_ptr<const ProtocolOffer>> make_rep3(const ServerConfig& config);

}  // namespace tkdc
