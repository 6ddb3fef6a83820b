// SPDX-License-Identifier: Apache-2.0
#include "threegarble/table_check.h"

#include <algorithm>
#include <cassert>
#include <climits>

namespace tkdc::threegarble {

TableCheck::TableCheck(ByteSpan key) : context_(EVP_CIPHER_CTX_new()) {
  assert(key.size() == kKeyBytes);
  // The key serves once: 16 octets are AES's, the next 12 the nonce.
  ok_ = context_ != nullptr && EVP_EncryptInit_ex(context_.get(), EVP_aes_128_gcm(), nullptr,
                                                  key.data(), key.data() + 16) == 1;
}

void TableCheck::add(ByteSpan octets) {
  while (ok_ && !octets.empty()) {
    const std::size_t now = std::min<std::size_t>(octets.size(), INT_MAX / 2 + 1);
    int taken = 0;
    ok_ = EVP_EncryptUpdate(context_.get(), nullptr, &taken, octets.data(),
                            static_cast<int>(now)) == 1;
    octets = octets.subspan(now);
  }
}

TableCheck::Tag TableCheck::tag() {
  Tag out{};
  int none = 0;
  ok_ = ok_ && EVP_EncryptFinal_ex(context_.get(), out.data(), &none) == 1 &&
        EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, kBytes, out.data()) == 1;
  return out;
}

}  // namespace tkdc::threegarble
