// SPDX-License-Identifier: Apache-2.0
// The quadratic layer in any ring, and what is built from it.
//
// Source: Araki et al. 2016, sections 2.1 (bits) and 2.3 (Z/2^n, fields), in the
// usual notation: party i adds up x_i (y_i + y_{i+1}) + x_{i+1} y_i for each
// product, adds its zero-share, sends one element r_i per output to i-1, and
// (r_i, r_{i+1}) is the new share. 1 round. Zero-shares are F(k_i) ^ F(k_{i+1}) in
// binary rings and F(k_i) - F(k_{i+1}) in the others. Each message is uniform to
// its receiver, who lacks the key k_{i+1}.
//
// Malicious security: each output of a binary ring is claimed (rep3/claims.h). An
// octet claim has 7 products at most: longer sums are sent in parts of 7. Products of other rings
// have no claims, since verification computes in fields of characteristic 2.
#pragma once

#include "rep3/rep3.h"
#include "tkdc/party.h"

// No program links against it.
#pragma GCC visibility push(hidden)

namespace tkdc::mpc {

// `x`, `y` and the indices of `terms` have been checked. All coroutines own their arguments.
Task<SharedBytes> quadratic(Rep3& rep3, Ring ring, SharedBytes x, SharedBytes y,
                            std::size_t outputs, std::vector<Term> terms);
Task<SharedBytes> multiply(Rep3& rep3, Ring ring, SharedBytes x, SharedBytes y);

// Words of bits, little-endian (api/words.cc): one octet 0 or 1 for each, whether a < b.
Task<SharedBytes> words_less(Rep3& rep3, SharedBytes a, SharedBytes b, std::size_t word_bytes);
// Z/2^n -> its bits.
Task<SharedBytes> words_of(Rep3& rep3, SharedBytes x, std::size_t word_bytes);
// The highest bit of each word, as an octet 0 or 1. No message.
SharedBytes top_bits(const SharedBytes& words, std::size_t word_bytes);

// The sharing of an input: see party.h. Null: the owner told the others different values, or
// something that is no element.
Task<std::optional<SharedBytes>> share_input(Rep3& rep3, int owner, Ring ring, std::size_t bytes,
                                             SecretVector value);

}  // namespace tkdc::mpc

#pragma GCC visibility pop
