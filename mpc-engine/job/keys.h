// SPDX-License-Identifier: Apache-2.0
// Making a key's record: everything that its operations need, derived on
// shares once, when the key is bound to its principal.
//
// RFC 3962 form, fields: "key" (16 or 32), and for each usage u of the class
// "u<u>.ke" (round keys), "u<u>.ki", "u<u>.kc" (HMAC states after both pads,
// 20 + 20).
// GCM form (own realm's krbtgt, drawn): four independent random values, none
// derived from another: "gcm.rk" and "gcm.h" (round keys, powers of H),
// "sign.rk" and "sign.h", and a K_std of RFC 3962 form for the usages of other
// verifiers ("key" and its derived fields).
#pragma once

#include "admit/policy.h"
#include "cipher/ciphers.h"
#include "store/record.h"

namespace tkdc {

// 16, 32, or 0 for an enctype that is not served.
std::size_t key_bytes_of(std::uint32_t enctype);

std::string field_name(std::uint32_t usage, const char* part);

// Fills record.form and record.fields; `record` names principal, class, origin
// and enctype. `base`: the staged key, of key_bytes_of(enctype) octets.
Task<void> derive_fields(Ciphers& ciphers, KeyRecord& record, SharedBytes base);

}  // namespace tkdc
