// SPDX-License-Identifier: Apache-2.0
// GF(2^128) in GCM's bit order (SP 800-38D, section 6.3) on shares, from inner products.
#pragma once

#include "field/gf128.h"
#include "protocol/protocol.h"

namespace tkdc {

// x^1 .. x^count, count a power of two; log2(count) layers (squares are linear).
Task<SharedBytes> gf128_powers(Protocol& protocol, SharedBytes x, std::size_t count);

// Whether a string is zero, and nothing else about it: each 16 octets of it are
// multiplied by a fresh shared random element and the sum of the products, which is
// uniformly random where the string is not zero, is opened. Errs with probability 2^-128.
// By replicated sharing 2 rounds and 16 octets.
Task<bool> is_zero(Protocol& protocol, SharedBytes x);

}  // namespace tkdc
