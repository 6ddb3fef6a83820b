// SPDX-License-Identifier: Apache-2.0
// The protocols that this program has. Each program has a list of its own: the installed one those
// that keep keys secret (protocol_list.cc), programs of tests others besides.
#pragma once

#include "protocol/offer.h"
#include "service/server/config.h"

namespace tkdc {

// Error: the configuration names one that this program has not.
Result<void> check_protocols(const ServerConfig& config);

// As the configuration says, in its order. Error: as above, or this machine cannot compute by it.
Result<ProtocolOffers> offered_protocols(const ServerConfig& config);

// What the handshake says of them.
std::vector<OfferedProtocol> described(const ProtocolOffers& offers);

}  // namespace tkdc
