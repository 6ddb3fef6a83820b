// SPDX-License-Identifier: Apache-2.0
// Pseudo-random octets of a key of 32 octets: AES-256 in counter mode, by libcrypto, from block 0.
// A key serves once; what is made of it is secret or public as its owner says.
#pragma once

#include <openssl/evp.h>

#include <memory>

#include "base/secret.h"

namespace tkdc {

class SecretStream {
 public:
  SecretStream();

  // Begins a key's stream. Running out of memory ends the process, as elsewhere.
  void begin(ByteSpan key);
  // The next octets of it.
  void take(MutableByteSpan out);

 private:
  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
  };
  std::unique_ptr<EVP_CIPHER_CTX, Free> context_;
};

}  // namespace tkdc
