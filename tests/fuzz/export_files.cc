// SPDX-License-Identifier: Apache-2.0
// The files of an export, by the first octet: a request, an approval, and what a server that
// lies puts into its box.
#include <string_view>

#include "fuzz.h"
#include "service/export/approval.h"
#include "service/export/parcel.h"

namespace {

using namespace tkdc;

void request(std::string_view text) {
  auto read = decode_export_request(text);
  if (!read) return;
  fuzz::require(encode(*read) == text && !read->keys.empty());
}

void approval(std::string_view text) {
  auto read = decode_approval(text);
  if (read) fuzz::require(decode_approval(encode(*read)).ok());
}

struct Pair {
  std::array<std::uint8_t, 32> public_key{};
  SecretBuffer secret{crypto_box_SECRETKEYBYTES};
  Pair() { crypto_box_keypair(public_key.data(), secret.data()); }
};

void parcel(ByteSpan contents) {
  static const Pair recipient, server;
  static const ExportRequest wanted = [] {
    ExportRequest out;
    out.keys.resize(2);
    out.keys[0].enctype = 17;
    out.keys[1].enctype = 18;
    return out;
  }();
  static const Bytes empty = *pack({}, {}, recipient.public_key, server.secret);
  const std::size_t header = empty.size() - crypto_box_MACBYTES - 1 - sizeof(Digest) - 4;
  Bytes file(empty.begin(), empty.begin() + static_cast<std::ptrdiff_t>(header));
  file.resize(header + crypto_box_MACBYTES + contents.size());
  fuzz::require(crypto_box_easy(file.data() + header, contents.data(), contents.size(),
                                file.data() + header - crypto_box_NONCEBYTES,
                                recipient.public_key.data(), server.secret.data()) == 0);
  auto read = unpack(file, wanted, {}, recipient.secret, server.public_key);
  if (!read) return;
  fuzz::require(read->keys.size() == wanted.keys.size());
  for (std::size_t k = 0; k < 2; ++k)
    fuzz::require(!read->keys[k] || read->keys[k]->size() == 16 * (k + 1));
  (void)combine(wanted, {*read, *read, *read}).ok();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ByteSpan rest(data + 1, size - 1);
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
  switch (data[0] % 3) {
    case 0: request(text); break;
    case 1: approval(text); break;
    default: parcel(rest);
  }
  return 0;
}
