// SPDX-License-Identifier: Apache-2.0
// What each of three servers hands over for an approved request: its two components of each key,
// for the recipient alone; and what the recipient makes of the three servers' parcels. The file:
// parcel_file.h. Of two servers: pair_parcel.h.
//
//   box: party u8 | request digest[32] | keys u32 | for each: kind u8, and if it leaves its
//        components x_i and x_(i+1), of the enctype's key length
//
// Security: one parcel is two of three random components. Each component comes from two
// servers and is compared, so a server that lies spoils the export and changes no key.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "protocol/shared_bytes.h"
#include "service/export/parcel_file.h"

namespace tkdc {

// Of one key; no value: it stays, because it is no key of its enctype (own-realm form).
using HandedKey = std::optional<SharedBytes>;

struct Parcel {
  int party = 0;
  std::vector<HandedKey> keys;  // in the request's order
};

// `secret`: the server's CURVE secret key, 32 octets. Error: the recipient's public key is
// none that can be encrypted to.
Result<Bytes> pack(const Parcel& parcel, const Digest& request,
                   const std::array<std::uint8_t, 32>& recipient, const SecretBuffer& secret);

// `secret`: the recipient's; `server`: the public key of that party. Error: made by another
// server, for another request or recipient, or changed.
Result<Parcel> unpack(ByteSpan file, const ExportRequest& request, const Digest& digest,
                      const SecretBuffer& secret, const std::array<std::uint8_t, 32>& server);

// The keys, in the request's order; no value for those that stay. Error: names the key and
// the two servers that differ about it. `parcels`: by party.
Result<std::vector<std::optional<SecretVector>>> combine(const ExportRequest& request,
                                                         const std::array<Parcel, 3>& parcels);

}  // namespace tkdc
