// SPDX-License-Identifier: Apache-2.0
// Introductions of members, by the first octet: as they come, and lines of any kind under a
// signature that holds, as somebody with a key of his own can send them.
#include <string_view>

#include "base/hex.h"
#include "fuzz.h"
#include "tools/setup/host_name.h"
#include "tools/setup/introduction.h"

namespace {

using namespace tkdc;

const SecretBuffer& seed() {
  static const SecretBuffer one = [] {
    SecretBuffer out(setup::kSeedBytes);
    std::fill_n(out.data(), out.size(), std::uint8_t{7});
    return out;
  }();
  return one;
}

void check(const setup::Introduction& read) {
  fuzz::require((read.server() != nullptr) != (read.agent() != nullptr));
  fuzz::require(setup::good_realm(read.realm) && !read.name().empty());
  fuzz::require(read.name().find('/') == std::string::npos && read.name().front() != '.');
  auto host = setup::canonical_host(read.host);
  fuzz::require(host.ok() && *host == read.host);
}

void as_it_comes(std::string_view text) {
  auto read = setup::decode_introduction(text);
  if (read) check(*read);
}

void well_signed(std::string_view lines) {
  static const std::string identity = "identity " + to_hex(setup::identity_of(seed())) + "\n";
  std::string text = std::string(lines) + identity;
  SecretBuffer secret(crypto_sign_SECRETKEYBYTES);
  setup::IdentityKey key;
  crypto_sign_seed_keypair(key.data(), secret.data(), seed().data());
  Bytes octets;
  Writer w(octets);
  w.text("tkdc introduction 1");
  w.text(text);
  std::array<std::uint8_t, crypto_sign_BYTES> signature;
  crypto_sign_detached(signature.data(), nullptr, octets.data(), octets.size(), secret.data());
  text += "signature " + to_hex(signature) + "\n";
  auto read = setup::decode_introduction(text);
  if (!read) return;
  check(*read);
  fuzz::require(setup::encode(*read, seed()) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] % 2 == 0)
    as_it_comes(text);
  else
    well_signed(text);
  return 0;
}
