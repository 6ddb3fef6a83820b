// SPDX-License-Identifier: Apache-2.0
// Commitments to labels: C_w[c] = H(w, the label with colour c), w a tweak of its own. They stand
// in the order of colours, so their order says nothing of values.
//
// Binding: who finds another label of that colour for one of the 2^18 commitments under a key has
// found a second preimage of H: 2^-109 for each call of π. Hiding: E holds one label of a wire, the
// other's commitment is one of the points that page 19 counts.
//
// Secret: labels; no branch and no address depends on them.
#pragma once

#include "garble/garbler.h"
#include "threegarble/shape.h"

namespace tkdc::threegarble {

// Of wires with these zero-labels; kCommitmentBytes each.
void commit(const garble::Kernel& kernel, const garble::RoundKeys& keys, std::uint64_t first_tweak,
            std::span<const garble::Label> zero_labels, const garble::Label& delta,
            MutableByteSpan out);

// Whether each label is what its wire's commitment says, at its colour, and has the colour that is
// expected, a bit each: all of it as one octet, 0 if so.
std::uint8_t differs(const garble::Kernel& kernel, const garble::RoundKeys& keys,
                     std::uint64_t first_tweak, std::span<const garble::Label> labels,
                     ByteSpan commitments, ByteSpan expected_colours);

// The tables' first key of π.
void first_keys(ByteSpan tables, garble::RoundKeys& out);

// to ^= from, of one length.
inline void xor_octets(MutableByteSpan to, ByteSpan from) {
  assert(to.size() == from.size());
  for (std::size_t k = 0; k < to.size(); ++k) to[k] = static_cast<std::uint8_t>(to[k] ^ from[k]);
}
// Bit k of a string of octets.
inline std::uint64_t bit_of(ByteSpan octets, std::size_t k) { return octets[k / 8] >> k % 8 & 1; }
// Ors the bit, 0 or 1, into a string of zeros.
inline void put_bit(MutableByteSpan octets, std::size_t k, std::uint64_t bit) {
  octets[k / 8] = static_cast<std::uint8_t>(octets[k / 8] | bit << k % 8);
}

}  // namespace tkdc::threegarble
