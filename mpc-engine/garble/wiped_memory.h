// SPDX-License-Identifier: Apache-2.0
// Where secrets of an instance stand, and how they go.
//
// Memory is heap that is wiped, on a border of 64 octets for vector registers. Servers lock all of
// their memory (base/hardening.h), so it needs no locked pages of its own: those take several
// system calls each, and an instance has some thirty pieces.
//
// Kernels and callers leave copies on the stack and in registers, Δ among them. wipe_stack() clears
// what was below its caller; whoever has garbled, evaluated or hashed calls it when it is through.
#pragma once

#include <algorithm>

#include "base/secret.h"

namespace tkdc::garble {

// WipingAllocator puts 1,024 octets and more on such a border.
inline SecretVector aligned_secret(std::size_t bytes) {
  return SecretVector(std::max<std::size_t>((bytes + 63) / 64 * 64, 1024));
}

// More than any kernel and its callers here take.
inline constexpr std::size_t kStackBytes = std::size_t{16} * 1024;
inline void wipe_stack() { sodium_stackzero(kStackBytes); }

}  // namespace tkdc::garble
