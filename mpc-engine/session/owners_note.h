// SPDX-License-Identifier: Apache-2.0
// What the owner of a party tells the owners of the others when a session is made. All three see
// the same octets, and none of them means anything to the session. Not secret.
#pragma once

#include <array>
#include <cstdint>

namespace tkdc {

using OwnersNote = std::array<std::uint8_t, 40>;

}  // namespace tkdc
