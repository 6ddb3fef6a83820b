// SPDX-License-Identifier: Apache-2.0
#include "service/export/parcel.h"

#include "service/export/parcel_body.h"

namespace tkdc {
namespace {

void put_components(SecretWriter& w, const SharedBytes& key) {
  w.raw(key.component[0]);
  w.raw(key.component[1]);
}

SharedBytes read_components(Reader& r, std::size_t bytes) {
  SharedBytes out;
  for (SecretVector& component : out.component) {
    const ByteSpan octets = r.raw(bytes);
    component.assign(octets.begin(), octets.end());
  }
  return out;
}

Error components_differ(const ExportKey& key, std::size_t a, std::size_t b) {
  return fail(
      label_of(key) + ": servers " + std::to_string(a) + " and " + std::to_string(b) +
      " hand over different shares. If shares were refreshed between their parcels, make another "
      "request; else one of the two lies or has a damaged store");
}

}  // namespace

Result<Bytes> pack(const Parcel& parcel, const Digest& request,
                   const std::array<std::uint8_t, 32>& recipient, const SecretBuffer& secret) {
  return seal_parcel({3, parcel.party}, parcel_body(parcel, request, put_components), request,
                     recipient, secret);
}

Result<Parcel> unpack(ByteSpan file, const ExportRequest& request, const Digest& digest,
                      const SecretBuffer& secret, const std::array<std::uint8_t, 32>& server) {
  return open_parcel_of<Parcel>(3, file, request, digest, secret, server, read_components);
}

Result<std::vector<std::optional<SecretVector>>> combine(const ExportRequest& request,
                                                         const std::array<Parcel, 3>& parcels) {
  std::vector<std::optional<SecretVector>> out;
  for (std::size_t k = 0; k < request.keys.size(); ++k) {
    std::optional<SecretVector> key;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t next = (i + 1) % 3;
      const HandedKey& mine = parcels[i].keys[k];
      const HandedKey& other = parcels[next].keys[k];
      if (mine.has_value() != other.has_value()) return components_differ(request.keys[k], i, next);
      if (!mine) continue;
      // x_(i+1) is the second component here and the first at the next server.
      const SecretVector& a = mine->component[1];
      const SecretVector& b = other->component[0];
      if (a.size() != b.size() || sodium_memcmp(a.data(), b.data(), a.size()) != 0)
        return components_differ(request.keys[k], i, next);
      if (!key) key.emplace(a.size());
      xor_bytes(key->data(), a.data(), a.size());
    }
    out.push_back(std::move(key));
  }
  return out;
}

}  // namespace tkdc
