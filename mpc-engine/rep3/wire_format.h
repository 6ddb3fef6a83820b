// SPDX-License-Identifier: Apache-2.0
// The digest of rep3/wire-format.txt: what replicated sharing sends (session/wire_format.h).
#pragma once

#include <cstdint>

namespace tkdc {

std::uint64_t rep3_wire_format();

}  // namespace tkdc
