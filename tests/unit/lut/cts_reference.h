// SPDX-License-Identifier: Apache-2.0
// RFC 3962's ciphertext stealing by OpenSSL, which calls it CS3, from a zero vector.
#pragma once

#include <openssl/core_names.h>
#include <openssl/evp.h>

#include "lut/lut_parties.h"

namespace tkdc::lut {

inline Bytes openssl_cts(const Bytes& key, const Bytes& plain) {
  EVP_CIPHER* cipher =
      EVP_CIPHER_fetch(nullptr, key.size() == 16 ? "AES-128-CBC-CTS" : "AES-256-CBC-CTS", nullptr);
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  char mode[] = "CS3";
  const OSSL_PARAM params[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_CIPHER_PARAM_CTS_MODE, mode, 0),
      OSSL_PARAM_construct_end()};
  const Bytes iv(16);
  Bytes out(plain.size());
  int octets = 0;
  EXPECT_EQ(EVP_EncryptInit_ex2(context, cipher, key.data(), iv.data(), params), 1);
  EXPECT_EQ(
      EVP_EncryptUpdate(context, out.data(), &octets, plain.data(), static_cast<int>(plain.size())),
      1);
  EXPECT_EQ(octets, static_cast<int>(plain.size()));
  EVP_CIPHER_CTX_free(context);
  EVP_CIPHER_free(cipher);
  return out;
}

}  // namespace tkdc::lut
