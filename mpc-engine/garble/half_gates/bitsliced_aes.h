// SPDX-License-Identifier: Apache-2.0
// AES-128 (FIPS 197) on four blocks at once, in plain C++ and constant time: bit k of each octet
// stands in plane k, so that an S-box is arithmetic and no table is looked up.
#pragma once

#include <span>

#include "garble/kernel.h"

namespace tkdc::garble {

inline constexpr std::size_t kSlicedBlocks = 4;

// Of instance `instance`'s key; at most kSlicedBlocks blocks, in place.
void encrypt_sliced(const RoundKeys& keys, std::size_t instance, std::span<Label> blocks);

}  // namespace tkdc::garble
