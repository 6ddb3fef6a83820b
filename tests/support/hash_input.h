// SPDX-License-Identifier: Apache-2.0
// What a hash's compressions start from and get, as one of three parties holds it.
#pragma once

#include "protocol/hash.h"
#include "protocol/replicated.h"

namespace tkdc::test {

inline SharedBytes initial_of(const HashFunction& hash, int party) {
  return share_public(party, hash.initial());
}

// `before`: octets of the message that are in the state already.
inline SharedBytes padded(const HashFunction& hash, int party, SharedBytes message,
                          std::size_t before = 0) {
  const std::size_t bytes = message.size();
  const Bytes padding = hash.padding(bytes, before);
  message.resize(bytes + padding.size());
  xor_public(message, party, padding, bytes);
  return message;
}

}  // namespace tkdc::test
