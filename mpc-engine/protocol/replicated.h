// SPDX-License-Identifier: Apache-2.0
// Replicated sharing among three parties, the form in which values, records and agents' inputs
// stand whichever protocol computes: x = x_0 ^ x_1 ^ x_2; party i holds component[0] = x_i and
// component[1] = x_{i+1} (Araki et al. 2016, section 2.1, in the usual notation). A public constant
// c is the sharing x_0 = c, x_1 = x_2 = 0, so party 0 adds it to component[0] and party 2 to
// component[1].
#pragma once

#include <string_view>

#include "protocol/shared_bytes.h"

namespace tkdc {

// Its name in records of keys.
inline constexpr std::string_view kReplicatedSharing = "replicated-3";

// Index of the component that carries public constants at this party, or -1.
inline int constant_component(int party) { return party == 0 ? 0 : party == 2 ? 1 : -1; }

// out[offset ..] ^= the public octets.
inline void xor_public(SharedBytes& out, int party, ByteSpan opened, std::size_t offset = 0) {
  assert(offset + opened.size() <= out.size());
  int c = constant_component(party);
  if (c >= 0) xor_bytes(out.component[c].data() + offset, opened.data(), opened.size());
}

// The sharing of public octets.
inline SharedBytes share_public(int party, ByteSpan opened) {
  SharedBytes out(opened.size());
  xor_public(out, party, opened);
  return out;
}

}  // namespace tkdc
