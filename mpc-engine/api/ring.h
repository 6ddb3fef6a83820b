// SPDX-License-Identifier: Apache-2.0
// Vectors of ring elements as octets: sums and products, in constant time.
// Lengths are whole numbers of elements; the caller has checked them. Elements of
// kF61 are below the prime. Used by shares.cc and quadratic.cc; any thread.
#pragma once

#include "base/secret.h"
#include "tkdc/shares.h"

// No program links against it.
#pragma GCC visibility push(hidden)

namespace tkdc::mpc {

// out[k] += in[k], out[k] -= in[k].
void ring_add(Ring ring, std::uint8_t* out, const std::uint8_t* in, std::size_t bytes);
void ring_subtract(Ring ring, std::uint8_t* out, const std::uint8_t* in, std::size_t bytes);

// *out += a b, one element.
void ring_multiply_add(Ring ring, std::uint8_t* out, const std::uint8_t* a, const std::uint8_t* b);

// Random octets -> uniform elements (of kF61 but for 2^-61).
void ring_reduce(Ring ring, std::uint8_t* octets, std::size_t bytes);

// Whether each element of opened octets is one.
bool ring_holds(Ring ring, ByteSpan opened);

}  // namespace tkdc::mpc

#pragma GCC visibility pop
