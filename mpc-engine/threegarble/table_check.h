// SPDX-License-Identifier: Apache-2.0
// The one-time hash by which E learns that both garblers have made the same T: each garbler sends
// one half, and of the other half this hash, under a key that E shares with it alone. So whoever
// changes the half that it sends has to hit a hash whose key it does not know: at most
// (octets / 16 + 2) / 2^128, for each instance anew.
//
// GMAC (SP 800-38D): GHASH of the octets under a key of the instance, and a pad. OpenSSL's.
// Secret: the key. Fails where OpenSSL does: then ok() is false, and nothing is accepted.
#pragma once

#include <openssl/evp.h>

#include <memory>

#include "threegarble/derive.h"

namespace tkdc::threegarble {

class TableCheck {
 public:
  static constexpr std::size_t kBytes = 16;
  using Tag = std::array<std::uint8_t, kBytes>;

  explicit TableCheck(ByteSpan key);
  void add(ByteSpan octets);
  Tag tag();
  bool ok() const { return ok_; }

 private:
  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
  };
  std::unique_ptr<EVP_CIPHER_CTX, Free> context_;
  bool ok_;
};

}  // namespace tkdc::threegarble
