// SPDX-License-Identifier: Apache-2.0
// The digest of circuits/wire-format.txt: a hash of each circuit's gates at some sizes, and of its
// schedule where it is short. Parties that garble must have the same circuits; those sizes, at
// which blocks are whole or not, one or many, stand for all (mpc-engine/session/wire_format.h).
#pragma once

#include <cstdint>

namespace tkdc {

std::uint64_t circuits_wire_format();

}  // namespace tkdc
