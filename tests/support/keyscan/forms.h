// SPDX-License-Identifier: Apache-2.0
// The shapes in which a secret value may lie in memory: what keyscan looks for.
//
// A value is 16, 20 or 32 octets: an AES key or round key, a derived key, a
// SHA-1 pad state. It is looked for
//   plain        as it is; with its 32-bit or 64-bit words byte-reversed (host
//                order on little-endian machines); reversed as a whole;
//   spread       one octet, or one 32-bit word in either order, every `stride` octets;
//   planes of a 16-octet state, 8 in number, of 16 bits each: packed, or one
//                plane every `stride` octets;
//   bit planes   (128 for a block, 160 for a SHA-1 state, 256 for a long key):
//                one bit of the value every `stride` octets, at any of the
//                eight bit positions. A bit repeated over a whole word, as
//                round keys stand in bit-sliced code, is found the same way.
// The planes' order differs from code to code; all orders named in
// bit_forms() are tried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace keyscan {

using Octets = std::vector<std::uint8_t>;

struct Value {
  std::string name;
  Octets octets;
};

// Units of 1, 2 or 4 octets at p, p + stride, ...; packed when stride equals unit.
struct OctetForm {
  std::string form;
  Octets octets;
  std::size_t unit = 1;
  bool strided = false;  // looked for at every stride, not packed
};

// bits[j] is the bit of the value in plane j.
struct BitForm {
  std::string form;
  std::vector<bool> bits;
};

// Octets between neighbouring planes that are tried.
const std::vector<std::size_t>& plane_strides();
const std::vector<std::size_t>& octet_strides();

std::vector<OctetForm> octet_forms(const Octets& value);
std::vector<BitForm> bit_forms(const Octets& value);

}  // namespace keyscan
