// SPDX-License-Identifier: Apache-2.0
// A key's name, and its octets in messages and records: struct tkdc_wire_key of wire.h in C++.
#pragma once

#include <array>
#include <cstdint>

#include "base/codec.h"
#include "wire.h"

namespace tkdc
{

using KeyId = std::array<std::uint8_t, TKDC_WIRE_KEY_ID_BYTES>;
using InstallationId = std::array<std::uint8_t, TKDC_WIRE_INSTALLATION_BYTES>;
using PrincipalDigest = std::array<std::uint8_t, TKDC_WIRE_PRINCIPAL_BYTES>;

struct KeyRef {
    KeyId id{};
    InstallationId installation{};
    PrincipalDigest principal{}; // SHA-256 of the unparsed principal name
    std::uint32_t kvno = 0;
    std::uint32_t enctype = 0;
    bool operator==(const KeyRef &) const = default;
};

// TKDC_WIRE_KEY_BYTES octets, the same as tkdc_wire_put_key() writes.
template <class Vector> void put_key(BasicWriter<Vector> &w, const KeyRef &key)
{
    w.raw(key.id);
    w.raw(key.installation);
    w.raw(key.principal);
    w.u32(key.kvno);
    w.u32(key.enctype);
}

// A failure shows in the reader.
inline void get_key(Reader &r, KeyRef &key)
{
    r.array(key.id);
    r.array(key.installation);
    r.array(key.principal);
    key.kvno = r.u32();
    key.enctype = r.u32();
}

} // namespace tkdc
