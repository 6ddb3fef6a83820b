// SPDX-License-Identifier: Apache-2.0
// The digest of threegarble/wire-format.txt: what this protocol sends (session/wire_format.h).
#pragma once

#include <cstdint>

namespace tkdc {

std::uint64_t threegarble_wire_format();

}  // namespace tkdc
