// SPDX-License-Identifier: Apache-2.0
// What stands in the box of a parcel (parcel_file.h), of three servers and of two alike:
//
//   party u8 | request digest[32] | keys u32 | for each key of the request: 0, it stays; or 1 and
//   what leaves of it
//
// Used by parcel.cc and pair_parcel.cc. Secret: what leaves.
#pragma once

#include "base/codec.h"
#include "enctype.h"
#include "service/export/parcel_file.h"

namespace tkdc {

// put(writer, one): what leaves of one key.
template <class Parcel, class Put>
SecretVector parcel_body(const Parcel& parcel, const Digest& request, Put put) {
  SecretVector out;
  SecretWriter w(out);
  w.u8(static_cast<std::uint8_t>(parcel.party));
  w.raw(request);
  w.u32(static_cast<std::uint32_t>(parcel.keys.size()));
  for (const auto& one : parcel.keys) {
    w.u8(one ? 1 : 0);
    if (one) put(w, *one);
  }
  return out;
}

// get(reader, octets): what leaves of a key of so many octets. False: not of this request.
template <class Parcel, class Get>
bool read_parcel_body(ByteSpan plain, const ExportRequest& request, const Digest& digest,
                      Parcel& out, Get get) {
  Reader r(plain);
  Digest of{};
  const int party = r.u8();
  r.array(of);
  if (party != out.party || of != digest || r.u32() != request.keys.size()) return false;
  for (const ExportKey& key : request.keys) {
    const std::uint8_t leaves = r.u8();
    const tkdc_enctype* served = tkdc_enctype_of(key.enctype);
    if (r.failed() || leaves > 1 || served == nullptr) return false;
    out.keys.emplace_back();
    if (leaves == 1) out.keys.back() = get(r, served->key_bytes);
  }
  return r.complete();
}

// The file of one of so many servers.
template <class Parcel, class Get>
Result<Parcel> open_parcel_of(int servers, ByteSpan file, const ExportRequest& request,
                              const Digest& digest, const SecretBuffer& secret,
                              const std::array<std::uint8_t, 32>& server, Get get) {
  auto name = parcel_name(file);
  if (!name) return name.error();
  if (name->servers != servers) return fail("shares of a realm on another number of servers");
  auto plain = open_parcel(file, digest, secret, server);
  if (!plain) return plain.error();
  Parcel out;
  out.party = name->party;
  if (!read_parcel_body(*plain, request, digest, out, get))
    return fail("server " + std::to_string(out.party) +
                " made shares that are not of this request");
  return out;
}

}  // namespace tkdc
