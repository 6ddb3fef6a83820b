// SPDX-License-Identifier: Apache-2.0
#include "service/export/parcel.h"

#include <algorithm>
#include <string_view>

#include "enctype.h"

namespace tkdc {
namespace {

constexpr std::string_view kParcelTitle = "tkdc-export-shares 1\n";
constexpr std::size_t kBoxNonceBytes = crypto_box_NONCEBYTES;
constexpr std::size_t kParcelHeaderBytes =
    kParcelTitle.size() + 1 + sizeof(Digest) + kBoxNonceBytes;
enum Kind : std::uint8_t { kStays = 0, kLeaves = 1 };

std::size_t key_bytes(const ExportKey& key) {
  const tkdc_enctype* served = tkdc_enctype_of(key.enctype);
  return served == nullptr ? 0 : served->key_bytes;
}

SecretVector contents(const Parcel& parcel, const Digest& request) {
  SecretVector out;
  SecretWriter w(out);
  w.u8(static_cast<std::uint8_t>(parcel.party));
  w.raw(request);
  w.u32(static_cast<std::uint32_t>(parcel.keys.size()));
  for (const HandedKey& key : parcel.keys) {
    w.u8(key ? kLeaves : kStays);
    if (!key) continue;
    w.raw(key->component[0]);
    w.raw(key->component[1]);
  }
  return out;
}

SharedBytes read_components(Reader& r, std::size_t bytes) {
  SharedBytes out;
  for (SecretVector& component : out.component) {
    const ByteSpan octets = r.raw(bytes);
    component.assign(octets.begin(), octets.end());
  }
  return out;
}

bool read_contents(ByteSpan plain, const ExportRequest& request, const Digest& digest,
                   Parcel& out) {
  Reader r(plain);
  Digest of{};
  const int party = r.u8();
  r.array(of);
  if (party != out.party || of != digest || r.u32() != request.keys.size()) return false;
  for (const ExportKey& key : request.keys) {
    const std::uint8_t kind = r.u8();
    if (r.failed() || kind > kLeaves) return false;
    if (kind == kLeaves)
      out.keys.emplace_back(read_components(r, key_bytes(key)));
    else
      out.keys.emplace_back();
  }
  return r.complete();
}

std::string name_of(const ExportKey& key) {
  return key.principal + ", version " + std::to_string(key.kvno) + ", enctype " +
         std::to_string(key.enctype);
}

Error differ(const ExportKey& key, std::size_t a, std::size_t b) {
  return fail(name_of(key) + ": servers " + std::to_string(a) + " and " + std::to_string(b) +
              " hand over different shares; one of the two lies or has a damaged store");
}

}  // namespace

Result<Bytes> pack(const Parcel& parcel, const Digest& request,
                   const std::array<std::uint8_t, 32>& recipient, const SecretBuffer& secret) {
  const SecretVector plain = contents(parcel, request);
  Bytes out;
  Writer w(out);
  w.raw({reinterpret_cast<const std::uint8_t*>(kParcelTitle.data()), kParcelTitle.size()});
  w.u8(static_cast<std::uint8_t>(parcel.party));
  w.raw(request);
  out.resize(kParcelHeaderBytes + crypto_box_MACBYTES + plain.size());
  std::uint8_t* const nonce = out.data() + kParcelHeaderBytes - kBoxNonceBytes;
  randombytes_buf(nonce, kBoxNonceBytes);
  if (crypto_box_easy(out.data() + kParcelHeaderBytes, plain.data(), plain.size(), nonce,
                      recipient.data(), secret.data()) != 0)
    return fail("the recipient's public key is none");
  return out;
}

Result<int> parcel_party(ByteSpan file) {
  if (file.size() < kParcelHeaderBytes + crypto_box_MACBYTES || file.size() > kMaxParcelBytes ||
      !std::equal(kParcelTitle.begin(), kParcelTitle.end(), file.begin()) ||
      file[kParcelTitle.size()] > 2)
    return fail("not shares as `tkdc hand-over` writes them");
  return static_cast<int>(file[kParcelTitle.size()]);
}

Result<Parcel> unpack(ByteSpan file, const ExportRequest& request, const Digest& digest,
                      const SecretBuffer& secret, const std::array<std::uint8_t, 32>& server) {
  auto party = parcel_party(file);
  if (!party) return party.error();
  Parcel out;
  out.party = *party;
  if (!std::equal(digest.begin(), digest.end(), file.begin() + kParcelTitle.size() + 1))
    return fail("shares for another request");
  const ByteSpan box = file.subspan(kParcelHeaderBytes);
  SecretVector plain(box.size() - crypto_box_MACBYTES);
  if (crypto_box_open_easy(plain.data(), box.data(), box.size(),
                           file.data() + kParcelHeaderBytes - kBoxNonceBytes, server.data(),
                           secret.data()) != 0)
    return fail("not made by server " + std::to_string(out.party) +
                " for this recipient, or changed on the way");
  if (!read_contents(plain, request, digest, out))
    return fail("server " + std::to_string(out.party) +
                " made shares that are not of this request");
  return out;
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
      if (mine.has_value() != other.has_value()) return differ(request.keys[k], i, next);
      if (!mine) continue;
      // x_(i+1) is the second component here and the first at the next server.
      const SecretVector& a = mine->component[1];
      const SecretVector& b = other->component[0];
      if (a.size() != b.size() || sodium_memcmp(a.data(), b.data(), a.size()) != 0)
        return differ(request.keys[k], i, next);
      if (!key) key.emplace(a.size());
      xor_bytes(key->data(), a.data(), a.size());
    }
    out.push_back(std::move(key));
  }
  return out;
}

}  // namespace tkdc
