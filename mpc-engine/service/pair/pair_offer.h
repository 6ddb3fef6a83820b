// SPDX-License-Identifier: Apache-2.0
// What two servers must have alike, as their handshake compares it: what either sends, and the
// circuits that both garble. Not which build they are. Public.
#pragma once

#include "session/session.h"

namespace tkdc {

OfferedProtocol pair_offered();
// Of four digests of files.
OfferedProtocol pair_offered(std::uint64_t pair, std::uint64_t jobs, std::uint64_t circuits,
                             std::uint64_t tables);

}  // namespace tkdc
