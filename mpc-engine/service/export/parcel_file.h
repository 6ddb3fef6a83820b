// SPDX-License-Identifier: Apache-2.0
// The file in which one server hands something over to an export's recipient alone.
//
//   "tkdc-export-shares 1\n" | party u8 | request digest[32] | nonce[24] | box
//
// with 2 in the place of 1 for a realm on two servers. The box is X25519, XSalsa20-Poly1305
// (crypto_box) from the server's CURVE key to the recipient's. A sealed box would hide the shares
// as well, but whoever can write the files of all servers could then put keys of his own into the
// realm. This one takes the server's secret key or the recipient's, which opens it as well: so
// recipient.key stays where it was made, and a box proves to nobody else who made it.
#pragma once

#include "base/result.h"
#include "base/secret.h"
#include "service/export/request.h"

namespace tkdc {

// Of which of how many servers a file says to be, before anything is checked.
struct ParcelName {
  int servers = 3;  // or 2
  int party = 0;
};

inline constexpr std::size_t kMaxParcelBytes = std::size_t{128} << 20;

Result<ParcelName> parcel_name(ByteSpan file);

// `secret`: the server's CURVE secret key, 32 octets. Error: the recipient's public key is none
// that can be encrypted to.
Result<Bytes> seal_parcel(const ParcelName& name, const SecretVector& plain, const Digest& request,
                          const std::array<std::uint8_t, 32>& recipient,
                          const SecretBuffer& secret);

// `secret`: the recipient's; `server`: the public key of that party. Error: made by another
// server, for another request or recipient, or changed.
Result<SecretVector> open_parcel(ByteSpan file, const Digest& request, const SecretBuffer& secret,
                                 const std::array<std::uint8_t, 32>& server);

// For messages about a key.
std::string label_of(const ExportKey& key);

}  // namespace tkdc
