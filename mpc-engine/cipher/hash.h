// SPDX-License-Identifier: Apache-2.0
// Hashes and HMAC of messages on shares (FIPS 180-4, RFC 2104). Only lengths are public.
#pragma once

#include "protocol/hash.h"
#include "protocol/protocol.h"

namespace tkdc {

// The state after `data`, of any length, and the padding of a message of which `before` octets
// (whole blocks) are in `state` already.
Task<SharedBytes> hash_rest(Protocol& protocol, const HashFunction& hash, SharedBytes state,
                            SharedBytes data, std::size_t before, Work work = Work::kWaitedFor);

// The states after K ^ ipad and K ^ opad, one after the other: what HMAC starts from. The key has a
// block's length at most.
Task<SharedBytes> hmac_pad_states(Protocol& protocol, const HashFunction& hash, SharedBytes key,
                                  Work work = Work::kWaitedFor);
inline SharedBytes inner_of(const SharedBytes& pads) { return pads.slice(0, pads.size() / 2); }
inline SharedBytes outer_of(const SharedBytes& pads) {
  return pads.slice(pads.size() / 2, pads.size() / 2);
}

// A whole digest. `pads` outlives the task.
Task<SharedBytes> hmac(Protocol& protocol, const HashFunction& hash, const SharedBytes& pads,
                       SharedBytes data, Work work = Work::kWaitedFor);

}  // namespace tkdc
