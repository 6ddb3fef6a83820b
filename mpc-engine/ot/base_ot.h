// SPDX-License-Identifier: Apache-2.0
// Base OTs: Masny, Rindal, "Endemic Oblivious Transfer" (CCS 2019, ePrint 2019/706), from
// Diffie-Hellman on ristretto255. Malicious security in the random oracle model
// (docs/protocols/21-oblivious-transfer.md).
//
// For OT j with choice c, H_b hashing onto the group, G its generator:
//
//   receiver  a random, r_{1−c} a random point, r_c = a G − H_c(r_{1−c})        sends r_0, r_1
//   sender    s random, S = s G                                               sends S
//             key_b = KDF(b, s (r_b + H_b(r_{1−b})))
//   receiver  key_c = KDF(c, a S)
//
// Each OT has its own a and s, and every hash names the run (`context`), the OT and all that was
// sent for it. A corrupted party may choose its own keys; whoever uses them as pads loses nothing.
//
// Calls block; one thread. Secret: scalars, choices, keys. Error: the channel's; a point that is
// none or the neutral one.
#pragma once

#include "ot/channel.h"
#include "ot/kernel.h"

namespace tkdc::ot {

// Sends nothing but points. `zero` and `one` get the keys, as many as there are OTs.
Result<void> send_base(Channel& channel, ByteSpan context, std::span<Label> zero,
                       std::span<Label> one);
// `choices` are 0 or 1.
Result<void> receive_base(Channel& channel, ByteSpan context, std::span<const std::uint8_t> choices,
                          std::span<Label> keys);

}  // namespace tkdc::ot
