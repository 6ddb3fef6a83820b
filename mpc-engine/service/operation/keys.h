// SPDX-License-Identifier: Apache-2.0
// Making a key's record: everything that its operations need, derived on
// shares once, when the key is bound to its principal.
//
// Standard form, fields: "key" (16 or 32), and for each usage u of the class
// "u<u>.ke" (round keys; of two servers Ke itself), "u<u>.ki", "u<u>.kc" (HMAC states
// after both pads, of one length: SHA-1's for enctypes 17 and 18, SHA-2's for 19 and 20);
// "prf" where keys are derived from it (service/operation/derived.h).
// GCM form (own realm's krbtgt, drawn): four independent random values, none
// derived from another: "gcm.rk" and "gcm.h" (round keys, powers of H),
// "sign.rk" and "sign.h", and a K_std of standard form for the usages of other
// verifiers ("key" and its derived fields).
#pragma once

#include "cipher/rfc8009.h"
#include "service/admit/policy.h"
#include "service/store/record.h"

namespace tkdc {

// 16, 32, or 0 for an enctype that is not served.
std::size_t key_bytes_of(std::uint32_t enctype);

// RFC 8009's parameters for enctypes 19 and 20; null for 17 and 18 (RFC 3962).
const Rfc8009* sha2_enctype(std::uint32_t enctype);

std::string field_name(std::uint32_t usage, const char* part);

// What PRF+ of the key starts from (cipher/prf_plus.h), for classes that derive.
inline constexpr const char* kPrfField = "prf";

// Ke's round keys, and the HMAC states of Ki and Kc, of these usages under `key` of
// the record's enctype; also the field "key". `work`: of SHA-1's compressions.
Task<void> derive_standard(Protocol& protocol, KeyRecord& record, SharedBytes key, Usages usages,
                           Work work = Work::kWaitedFor);

// Fills record.form and record.fields; `record` names principal, class, origin
// and enctype. `base`: the staged key, of key_bytes_of(enctype) octets. Bulk work: a realm's
// import binds hundreds of keys at once.
Task<void> derive_fields(Protocol& protocol, KeyRecord& record, SharedBytes base);

}  // namespace tkdc
