// SPDX-License-Identifier: Apache-2.0
// How logs name a client's request: the 64 bits that krb5kdc has drawn for it
// (kdc-plugin/preload/agent_call.c), as 16 hexadecimal digits. No secret, and no proof either: who
// asks may say any.
#pragma once

#include <cstdint>
#include <string>

#include "base/codec.h"
#include "base/hex.h"

namespace tkdc
{

inline std::string request_id_text(std::uint64_t id)
{
    Bytes octets;
    Writer(octets).u64(id);
    return to_hex(octets);
}

// For base/log.h's LogField: journalctl TKDC_REQUEST=ID. Empty where there is no id.
inline std::string request_field(std::uint64_t id)
{
    return id == 0 ? std::string() : "TKDC_REQUEST=" + request_id_text(id);
}

} // namespace tkdc
