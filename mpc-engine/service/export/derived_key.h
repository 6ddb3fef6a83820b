// SPDX-License-Identifier: Apache-2.0
// Ke of a Kerberos key, in the clear: what the recipient of an export checks keys by
// (pair_parcel.h). RFC 3961 section 5.3 with RFC 3962's AES, for enctypes 17 and 18; RFC 8009
// section 3, for 19 and 20.
//
// No server calls it: none has a key. Secret: all of it.
#pragma once

#include "base/result.h"
#include "base/secret.h"

namespace tkdc {

// As long as the key. Error: no such enctype, a key of another length, or OpenSSL's.
Result<SecretVector> encryption_key_of(std::uint32_t enctype, const SecretVector& key,
                                       std::uint32_t usage);

}  // namespace tkdc
