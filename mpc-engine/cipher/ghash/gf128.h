// SPDX-License-Identifier: Apache-2.0
// GF(2^128) in GCM's bit order (SP 800-38D, section 6.3), in the clear and on
// shares. Constant time: no branch and no index depends on an operand.
#pragma once

#include <vector>

#include "field/gf128.h"
#include "rep3/rep3.h"

namespace tkdc {

// Sum of a_k b_k over the 16-octet elements of two strings of one length, for
// several pairs in one layer: 16 message octets for each pair. All pairs' sums
// stand one after the other.
struct InnerProduct {
  InnerProduct() = default;
  InnerProduct(SharedBytes left, SharedBytes right) : a(std::move(left)), b(std::move(right)) {}
  SharedBytes a, b;
};
Task<SharedBytes> gf128_inner_products(Rep3& rep3, std::vector<InnerProduct> pairs);

// x^1 .. x^count, count a power of two; log2(count) layers (squares are linear).
Task<SharedBytes> gf128_powers(Rep3& rep3, SharedBytes x, std::size_t count);

// Whether a string is zero, and nothing else about it: each 16 octets of it are
// multiplied by a fresh shared random element and the sum of the products, which is
// uniformly random where the string is not zero, is opened. 2 rounds and 16 octets.
// Errs with probability 2^-128.
Task<bool> is_zero(Rep3& rep3, SharedBytes x);

}  // namespace tkdc
