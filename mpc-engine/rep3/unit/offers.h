// SPDX-License-Identifier: Apache-2.0
// What a party offers in the handshake, by what its CPU, or a GPU, is good at.
#pragma once

#include <string>

#include "session/session.h"

namespace tkdc {

// The representation this CPU is good at. Malicious sessions are always in bytes: only they have
// claims to verify. `backend`: "auto", or a name as of rep3/unit/aes/aes.h.
Representation preferred_representation(const std::string& backend, Security security);

// What to say about zero-shares: `wanted` is "auto", "aes-ctr" or "chacha20". A GPU is looked for
// when `wanted` and `backend` both say "auto".
ZeroOffer zero_offer(const std::string& wanted, const std::string& backend, Security security);

}  // namespace tkdc
