// SPDX-License-Identifier: Apache-2.0
#include "service/export/pair_parcel.h"

#include "protocol/shared_bytes.h"
#include "service/export/derived_key.h"
#include "service/export/parcel_body.h"

namespace tkdc {
namespace {

void put_part(SecretWriter& w, const HandedPart& part) {
  w.u32(part.version);
  w.u32(part.usage);
  w.raw(part.key);
  w.raw(part.derived);
}

HandedPart read_part(Reader& r, std::size_t bytes) {
  HandedPart out;
  out.version = r.u32();
  out.usage = r.u32();
  for (SecretVector* value : {&out.key, &out.derived}) {
    const ByteSpan octets = r.raw(bytes);
    value->assign(octets.begin(), octets.end());
  }
  return out;
}

Error parts_differ(const ExportKey& key, const std::string& what) {
  return fail(label_of(key) + ": " + what +
              "; one of the two lies or has a damaged store: docs/operations.md, A realm on two "
              "servers");
}

SecretVector sum_of(const SecretVector& a, const SecretVector& b) {
  SecretVector out = a;
  xor_bytes(out.data(), b.data(), b.size());
  return out;
}

Result<SecretVector> combine_one(const ExportKey& key, const HandedPart& a, const HandedPart& b) {
  // Of a key that moves into another pool both stores have the next version.
  if (a.version != b.version)
    return fail(label_of(key) + ": servers 0 and 1 hand over different versions of their shares, " +
                std::to_string(a.version) + " and " + std::to_string(b.version) +
                ": the servers moved this key meanwhile, or one has an older store, or lies. Make "
                "another request, and have both hand over at one time");
  if (a.usage != b.usage)
    return parts_differ(key, "servers 0 and 1 hand over what belongs to different key usages");
  SecretVector whole = sum_of(a.key, b.key);
  const SecretVector derived = sum_of(a.derived, b.derived);
  auto expected = encryption_key_of(key.enctype, whole, a.usage);
  if (!expected) return expected.error();
  if (expected->size() != derived.size() ||
      sodium_memcmp(expected->data(), derived.data(), derived.size()) != 0)
    return parts_differ(key, "the shares of servers 0 and 1 do not belong together");
  return whole;
}

}  // namespace

Result<Bytes> pack(const PairParcel& parcel, const Digest& request,
                   const std::array<std::uint8_t, 32>& recipient, const SecretBuffer& secret) {
  return seal_parcel({2, parcel.party}, parcel_body(parcel, request, put_part), request, recipient,
                     secret);
}

Result<PairParcel> unpack_of_two(ByteSpan file, const ExportRequest& request, const Digest& digest,
                                 const SecretBuffer& secret,
                                 const std::array<std::uint8_t, 32>& server) {
  return open_parcel_of<PairParcel>(2, file, request, digest, secret, server, read_part);
}

Result<std::vector<std::optional<SecretVector>>> combine(const ExportRequest& request,
                                                         const std::array<PairParcel, 2>& parcels) {
  std::vector<std::optional<SecretVector>> out;
  for (std::size_t k = 0; k < request.keys.size(); ++k) {
    const auto &a = parcels[0].keys[k], &b = parcels[1].keys[k];
    if (a.has_value() != b.has_value())
      return parts_differ(request.keys[k], "one of servers 0 and 1 says that this key stays");
    if (!a) {
      out.emplace_back();
      continue;
    }
    auto key = combine_one(request.keys[k], *a, *b);
    if (!key) return key.error();
    out.emplace_back(std::move(*key));
  }
  return out;
}

}  // namespace tkdc
