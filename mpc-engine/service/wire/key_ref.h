// SPDX-License-Identifier: Apache-2.0
// A key's name, and its octets in messages and records: struct tkdc_wire_key of wire.h in C++.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/codec.h"
#include "wire.h"

namespace tkdc
{

using KeyId = std::array<std::uint8_t, TKDC_WIRE_KEY_ID_BYTES>;
using InstallationId = std::array<std::uint8_t, TKDC_WIRE_INSTALLATION_BYTES>;
using PrincipalDigest = std::array<std::uint8_t, TKDC_WIRE_PRINCIPAL_BYTES>;
// So many octets of it are in a line of an audit log, which grows by each line.
inline constexpr std::size_t kAuditedPrincipalBytes = 16;

struct KeyRef {
    KeyId id{};
    InstallationId installation{};
    PrincipalDigest principal{}; // SHA-256 of the unparsed principal name
    std::uint32_t kvno = 0;
    std::uint32_t enctype = 0;
    bool operator==(const KeyRef &) const = default;
};

inline tkdc_wire_key wire_key(const KeyRef &key)
{
    tkdc_wire_key out{};
    std::ranges::copy(key.id, out.key_id);
    std::ranges::copy(key.installation, out.installation);
    std::ranges::copy(key.principal, out.principal);
    out.kvno = key.kvno;
    out.enctype = key.enctype;
    return out;
}

inline KeyRef key_ref(const tkdc_wire_key &key)
{
    KeyRef out;
    std::ranges::copy(key.key_id, out.id.begin());
    std::ranges::copy(key.installation, out.installation.begin());
    std::ranges::copy(key.principal, out.principal.begin());
    out.kvno = key.kvno;
    out.enctype = key.enctype;
    return out;
}

// TKDC_WIRE_KEY_BYTES octets: both languages have wire.c's codec.
template <class Vector> void put_key(BasicWriter<Vector> &w, const KeyRef &key)
{
    std::array<std::uint8_t, TKDC_WIRE_KEY_BYTES> octets;
    const tkdc_wire_key wire = wire_key(key);
    tkdc_wire_put_key(octets.data(), &wire);
    w.raw(octets);
}

// A failure shows in the reader.
inline void get_key(Reader &r, KeyRef &key)
{
    std::array<std::uint8_t, TKDC_WIRE_KEY_BYTES> octets{};
    r.array(octets);
    tkdc_wire_key wire{};
    tkdc_wire_get_key(octets.data(), &wire);
    key = key_ref(wire);
}

} // namespace tkdc
