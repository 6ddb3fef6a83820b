// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/reference.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>
#include <cassert>

namespace tkdc::bench {

Result<Bytes> openssl_encrypt(const Bytes& key, ByteSpan in, std::size_t times) {
  EVP_CIPHER_CTX* ctx = EVP_CIPHER_CTX_new();
  Bytes x(in.begin(), in.end()), out(in.size() + 16);
  int n = 0;
  bool done = ctx != nullptr &&
              EVP_EncryptInit_ex2(ctx, key.size() == 16 ? EVP_aes_128_ecb() : EVP_aes_256_ecb(),
                                  key.data(), nullptr, nullptr) == 1;
  for (std::size_t k = 0; done && k < times; ++k) {
    done = EVP_EncryptUpdate(ctx, out.data(), &n, x.data(), static_cast<int>(x.size())) == 1;
    std::copy_n(out.begin(), x.size(), x.begin());
  }
  EVP_CIPHER_CTX_free(ctx);
  if (!done) return fail("bench: OpenSSL's AES failed");
  return x;
}

Result<Bytes> openssl_sha1(ByteSpan message) {
  Bytes out(20);
  if (EVP_Digest(message.data(), message.size(), out.data(), nullptr, EVP_sha1(), nullptr) != 1)
    return fail("bench: OpenSSL's SHA-1 failed");
  return out;
}

// EVP cannot begin with a state; OpenSSL 3 deprecates what can.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
Bytes openssl_sha256_blocks(const Bytes& state, const Bytes& block, std::uint64_t times) {
  assert(state.size() == 32 && block.size() == SHA256_CBLOCK);
  SHA256_CTX context{};
  for (std::size_t k = 0; k < 32; ++k)
    context.h[k / 4] |= std::uint32_t{state[k]} << (24 - 8 * (k % 4));
  while (times-- > 0) SHA256_Transform(&context, block.data());
  Bytes out(32);
  for (std::size_t k = 0; k < 32; ++k)
    out[k] = static_cast<std::uint8_t>(context.h[k / 4] >> (24 - 8 * (k % 4)));
  return out;
}
#pragma GCC diagnostic pop

}  // namespace tkdc::bench
