// SPDX-License-Identifier: Apache-2.0
#include "service/export/parcel_file.h"

#include <algorithm>
#include <string_view>

namespace tkdc {
namespace {

constexpr std::string_view kOfThree = "tkdc-export-shares 1\n", kOfTwo = "tkdc-export-shares 2\n";
static_assert(kOfThree.size() == kOfTwo.size());
constexpr std::size_t kTitleBytes = kOfThree.size();
constexpr std::size_t kNonceBytes = crypto_box_NONCEBYTES;
constexpr std::size_t kHeaderBytes = kTitleBytes + 1 + sizeof(Digest) + kNonceBytes;

bool is_titled(ByteSpan file, std::string_view title) {
  return std::equal(title.begin(), title.end(), file.begin());
}

}  // namespace

Result<ParcelName> parcel_name(ByteSpan file) {
  constexpr const char* kNone = "not shares as `tkdc hand-over` writes them";
  if (file.size() < kHeaderBytes + crypto_box_MACBYTES || file.size() > kMaxParcelBytes)
    return fail(kNone);
  ParcelName out;
  if (is_titled(file, kOfTwo))
    out.servers = 2;
  else if (!is_titled(file, kOfThree))
    return fail(kNone);
  out.party = file[kTitleBytes];
  if (out.party >= out.servers) return fail(kNone);
  return out;
}

Result<Bytes> seal_parcel(const ParcelName& name, const SecretVector& plain, const Digest& request,
                          const std::array<std::uint8_t, 32>& recipient,
                          const SecretBuffer& secret) {
  const std::string_view title = name.servers == 2 ? kOfTwo : kOfThree;
  Bytes out;
  Writer w(out);
  w.raw({reinterpret_cast<const std::uint8_t*>(title.data()), title.size()});
  w.u8(static_cast<std::uint8_t>(name.party));
  w.raw(request);
  out.resize(kHeaderBytes + crypto_box_MACBYTES + plain.size());
  std::uint8_t* const nonce = out.data() + kHeaderBytes - kNonceBytes;
  randombytes_buf(nonce, kNonceBytes);
  if (crypto_box_easy(out.data() + kHeaderBytes, plain.data(), plain.size(), nonce,
                      recipient.data(), secret.data()) != 0)
    return fail("the recipient's public key is none");
  return out;
}

Result<SecretVector> open_parcel(ByteSpan file, const Digest& request, const SecretBuffer& secret,
                                 const std::array<std::uint8_t, 32>& server) {
  auto name = parcel_name(file);
  if (!name) return name.error();
  if (!std::equal(request.begin(), request.end(), file.begin() + kTitleBytes + 1))
    return fail("shares for another request");
  const ByteSpan box = file.subspan(kHeaderBytes);
  SecretVector plain(box.size() - crypto_box_MACBYTES);
  if (crypto_box_open_easy(plain.data(), box.data(), box.size(),
                           file.data() + kHeaderBytes - kNonceBytes, server.data(),
                           secret.data()) != 0)
    return fail("not made by server " + std::to_string(name->party) +
                " for this recipient, or changed on the way");
  return plain;
}

std::string label_of(const ExportKey& key) {
  return key.principal + ", version " + std::to_string(key.kvno) + ", enctype " +
         std::to_string(key.enctype);
}

}  // namespace tkdc
