// SPDX-License-Identifier: Apache-2.0
// How a key is derived for one operation, as an agent tells the servers: a job's public data
// (docs/protocols/14-fast.md). The known half is no part of it: it stands before the input, in
// shares. The recipe in a handle is derivation.h's.
#pragma once

#include <optional>
#include <string>

#include "base/codec.h"
#include "derivation.h"

namespace tkdc
{

struct Derivation {
    std::uint8_t kind = TKDC_DERIVE_NONE;
    std::uint32_t enctype = 0; // of the derived key
    std::string pepper;
    bool operator==(const Derivation &) const = default;
};

// kind u8 | enctype u32 | pepper, to the end.
Bytes encode_derivation(const Derivation &by);
// Nothing when malformed or of an enctype that is not served.
std::optional<Derivation> decode_derivation(ByteSpan public_data);

// Octets of the known half that goes with it.
std::size_t known_half_bytes(const Derivation &by);

} // namespace tkdc
