// SPDX-License-Identifier: Apache-2.0
#include "mac/stream.h"

#include <algorithm>
#include <cstdlib>

namespace tkdc {
namespace {

constexpr std::size_t kMostAtOnce = std::size_t{1} << 24;

// libcrypto refuses only for want of memory. Octets that are not random would give keys away.
void must(int done) {
  if (done != 1) std::abort();
}

}  // namespace

SecretStream::SecretStream() : context_(EVP_CIPHER_CTX_new()) { must(context_ != nullptr); }

void SecretStream::begin(ByteSpan key) {
  static const std::uint8_t kFromZero[16] = {};
  must(key.size() == 32);
  // The cipher is looked up once; a later key only replaces the one before.
  const EVP_CIPHER* cipher =
      EVP_CIPHER_CTX_get0_cipher(context_.get()) == nullptr ? EVP_aes_256_ctr() : nullptr;
  must(EVP_EncryptInit_ex(context_.get(), cipher, nullptr, key.data(), kFromZero));
}

void SecretStream::take(MutableByteSpan out) {
  std::ranges::fill(out, std::uint8_t{0});
  while (!out.empty()) {
    const std::size_t bytes = std::min(out.size(), kMostAtOnce);
    int made = 0;
    must(EVP_EncryptUpdate(context_.get(), out.data(), &made, out.data(), static_cast<int>(bytes)));
    out = out.subspan(bytes);
  }
}

}  // namespace tkdc
