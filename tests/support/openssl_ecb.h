// SPDX-License-Identifier: Apache-2.0
// AES as OpenSSL computes it, to compare with: whole blocks, each for itself.
#pragma once

#include <openssl/evp.h>

#include "base/secret.h"

namespace tkdc::test {

inline Bytes openssl_ecb(ByteSpan key, ByteSpan in, bool encrypt) {
  EVP_CIPHER_CTX* ctx = EVP_CIPHER_CTX_new();
  EVP_CipherInit_ex(ctx, key.size() == 16 ? EVP_aes_128_ecb() : EVP_aes_256_ecb(), nullptr,
                    key.data(), nullptr, encrypt);
  EVP_CIPHER_CTX_set_padding(ctx, 0);
  Bytes out(in.size() + 16);
  int n = 0;
  EVP_CipherUpdate(ctx, out.data(), &n, in.data(), static_cast<int>(in.size()));
  EVP_CIPHER_CTX_free(ctx);
  out.resize(in.size());
  return out;
}

}  // namespace tkdc::test
