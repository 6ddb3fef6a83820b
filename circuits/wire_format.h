// SPDX-License-Identifier: Apache-2.0
// The digest of circuits/wire-format.txt: a hash of each circuit's schedule. Parties that garble
// must have the same circuits; one of two sizes stands for all (mpc-engine/session/wire_format.h).
#pragma once

#include <cstdint>

namespace tkdc {

std::uint64_t circuits_wire_format();

}  // namespace tkdc
