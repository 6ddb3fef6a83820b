// SPDX-License-Identifier: Apache-2.0
// The digest of pair/wire-format.txt: what two parties send each other (session/wire_format.h).
#pragma once

#include <cstdint>

namespace tkdc {

std::uint64_t pair_wire_format();

}  // namespace tkdc
