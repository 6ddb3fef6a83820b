// SPDX-License-Identifier: Apache-2.0
// How one value of the store is encrypted: XChaCha20-Poly1305 under one of the store's
// keys, a random nonce with each write, and associated data that says what the
// value is and where it belongs, so that nothing can be moved to another
// place, key, version, party or installation.
//
//   value = header length u8 | header | nonce[24] | ciphertext and tag
//
// The header stands in the clear, for the inventory, and is authenticated.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "base/result.h"
#include "service/wire/message.h"

namespace tkdc {

// For reading many values one after the other: libcrypto takes half of libsodium's time for some
// thousand octets, once its context is made. Secret: it keeps the last value's key.
class ManyValues {
 public:
  ManyValues();
  // False: what the other would refuse too, or there is no such cipher, or no memory.
  bool opens(const SecretBuffer& key, const std::uint8_t* nonce, ByteSpan ad, ByteSpan sealed,
             MutableByteSpan out);

 private:
  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
  };
  std::unique_ptr<EVP_CIPHER_CTX, Free> context_;
};

class StoreCipher {
 public:
  StoreCipher(const SecretBuffer& key, const InstallationId& installation, int party);
  // Values under this one open, too: while the store's keys are changed, or its shares refreshed.
  void also_decrypts(const SecretBuffer& other);

  // How long a value of so many octets is when it is encrypted.
  static std::size_t sealed_bytes(std::size_t header, std::size_t plaintext);

  // `table` and `name` say where the value lies.
  Bytes encrypt(std::string_view table, ByteSpan name, ByteSpan header, ByteSpan plaintext) const;

  enum class Under { kAny, kCurrent };
  // False when it was changed, moved, or encrypted under another key.
  [[nodiscard]] bool decrypt(std::string_view table, ByteSpan name, ByteSpan value,
                             SecretVector& plaintext, Under under = Under::kAny,
                             ManyValues* many = nullptr) const;

  // The unverified header; false when there is none of that length.
  [[nodiscard]] static bool header(ByteSpan value, std::size_t bytes, ByteSpan& out);

 private:
  Bytes associated_data(std::string_view table, ByteSpan name, ByteSpan header) const;

  SecretBuffer key_;
  std::vector<SecretBuffer> others_;
  InstallationId installation_;
  int party_;
};

}  // namespace tkdc
