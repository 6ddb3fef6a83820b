// SPDX-License-Identifier: Apache-2.0
// One server of three that tells the two others, or an agent, different things: in one message or
// decision it deviates to one of them alone. Where it has told somebody another decision, it goes
// on to show that one whatever he expects to see of it, so that only the two others, between
// themselves, can find it out. Of its nonce epochs it tells both the same lie. It waits for what
// others say before it speaks.
#pragma once

#include "base/secret.h"
#include "sim/liar.h"
#include "sim/wire.h"

namespace tkdc::sim {

void new_two_faced();
// So many lies, one in so many messages that could be one. One kind of them, or all: 1 and above,
// or 0.
void let_server_lie(int server, int lies, unsigned one_in, std::int64_t kind);
// Of any message.
Delivery show_a_face(const Wire& wire, int from_end, SecretVector& octets);

}  // namespace tkdc::sim
