// SPDX-License-Identifier: Apache-2.0
// The files of an export, by the first octet: a request, an approval, and what a server that lies,
// of three or of two, puts into its box.
#include <string_view>

#include "fuzz.h"
#include "service/export/approval.h"
#include "service/export/pair_parcel.h"
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

const ExportRequest& wanted() {
  static const ExportRequest request = [] {
    ExportRequest out;
    out.keys.resize(2);
    out.keys[0].enctype = 17;
    out.keys[1].enctype = 18;
    return out;
  }();
  return request;
}

const Pair& recipient() {
  static const Pair pair;
  return pair;
}

// `contents` in the place of those of `empty`, whose box has none of a key.
Bytes boxed(const Bytes& empty, const Pair& server, ByteSpan contents) {
  const std::size_t header = empty.size() - crypto_box_MACBYTES - 1 - sizeof(Digest) - 4;
  Bytes file(empty.begin(), empty.begin() + static_cast<std::ptrdiff_t>(header));
  file.resize(header + crypto_box_MACBYTES + contents.size());
  fuzz::require(crypto_box_easy(file.data() + header, contents.data(), contents.size(),
                                file.data() + header - crypto_box_NONCEBYTES,
                                recipient().public_key.data(), server.secret.data()) == 0);
  return file;
}

void parcel(ByteSpan contents) {
  static const Pair server;
  static const Bytes empty = *pack(Parcel(), {}, recipient().public_key, server.secret);
  auto read =
      unpack(boxed(empty, server, contents), wanted(), {}, recipient().secret, server.public_key);
  if (!read) return;
  fuzz::require(read->keys.size() == wanted().keys.size());
  for (std::size_t k = 0; k < 2; ++k)
    fuzz::require(!read->keys[k] || read->keys[k]->size() == 16 * (k + 1));
  (void)combine(wanted(), {*read, *read, *read}).ok();
}

void pair_parcel(ByteSpan contents) {
  static const Pair server;
  static const Bytes empty = *pack(PairParcel(), {}, recipient().public_key, server.secret);
  auto read = unpack_of_two(boxed(empty, server, contents), wanted(), {}, recipient().secret,
                            server.public_key);
  if (!read) return;
  fuzz::require(read->keys.size() == wanted().keys.size());
  bool any = false;
  for (std::size_t k = 0; k < 2; ++k) {
    const auto& part = read->keys[k];
    any = any || part;
    fuzz::require(!part ||
                  (part->key.size() == 16 * (k + 1) && part->derived.size() == 16 * (k + 1)));
  }
  // Both alike add up to zeros, and zeros are not what zeros derive.
  fuzz::require(combine(wanted(), {*read, *read}).ok() == !any);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ByteSpan rest(data + 1, size - 1);
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
  switch (data[0] % 4) {
    case 0: request(text); break;
    case 1: approval(text); break;
    case 2: parcel(rest); break;
    default: pair_parcel(rest);
  }
  return 0;
}
