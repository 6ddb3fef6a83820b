// SPDX-License-Identifier: Apache-2.0
// The network between the servers: the simulated side of link/network.h. TLS is not simulated: who
// calls is who he says, what he sends is not read on the way, and both ends of a connection have a
// secret.
#pragma once

#include "link/network.h"
#include "sim/wire.h"

namespace tkdc::sim {

// Of one server. Addresses are parties' numbers.
std::shared_ptr<Network> network_of(const Host& host);

void new_network();

}  // namespace tkdc::sim
