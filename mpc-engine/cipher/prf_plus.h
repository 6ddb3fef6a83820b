// SPDX-License-Identifier: Apache-2.0
// RFC 6113's PRF+ of a shared key and a public input, on shares:
//   PRF+(key, input) = PRF(key, 1 || input) || PRF(key, 2 || input) || ...
// with RFC 3961's PRF (enctypes 17 and 18) or RFC 8009's (19 and 20). Nothing is
// opened. What depends on the key alone is made once and kept.
#pragma once

#include "cipher/rfc8009.h"

namespace tkdc {

// `sha2`: RFC 8009's parameters, or null for RFC 3962. The result: the round keys
// of DK(key, "prf"), or the HMAC states after both pads.
Task<SharedBytes> prf_states(Protocol& protocol, const Rfc8009* sha2, SharedBytes key);

// Up to 255 PRF outputs; `states` must outlive the task. Rounds: those of one AES
// block, or of HMAC of the input, whatever the length.
Task<SharedBytes> prf_plus(Protocol& protocol, const Rfc8009* sha2, const SharedBytes& states,
                           Bytes input, std::size_t bytes);

}  // namespace tkdc
