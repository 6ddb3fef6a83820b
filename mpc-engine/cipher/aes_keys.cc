// SPDX-License-Identifier: Apache-2.0
#include "cipher/aes_keys.h"

namespace tkdc {

Task<SharedBytes> aes_expand_key(Protocol& protocol, SharedBytes key) {
  const SharedBytes none;
  const Unit unit = aes_expansion(key.size());
  co_return co_await protocol.apply(unit, none, std::move(key));
}

Task<std::vector<SharedBytes>> aes_expand_keys(Protocol& protocol, std::vector<SharedBytes> keys) {
  const std::size_t key_bytes = keys.front().size(), each = aes_round_key_bytes(key_bytes);
  const SharedBytes none;
  SharedBytes together;
  for (const SharedBytes& key : keys) together.append(key);
  SharedBytes expanded =
      co_await protocol.apply(aes_expansion(key_bytes), none, std::move(together));
  for (std::size_t k = 0; k < keys.size(); ++k) keys[k] = expanded.slice(each * k, each);
  co_return keys;
}

}  // namespace tkdc
