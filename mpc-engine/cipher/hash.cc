// SPDX-License-Identifier: Apache-2.0
#include "cipher/hash.h"

namespace tkdc {
namespace {

void pad(Protocol& protocol, const HashFunction& hash, SharedBytes& data, std::size_t before) {
  const std::size_t bytes = data.size();
  const Bytes padding = hash.padding(bytes, before);
  data.resize(bytes + padding.size());
  protocol.add_public(data, padding, bytes);
}

}  // namespace

Task<SharedBytes> hash_rest(Protocol& protocol, const HashFunction& hash, SharedBytes state,
                            SharedBytes data, std::size_t before, Work work) {
  pad(protocol, hash, data, before);
  co_return co_await protocol.apply(hash.blocks, state, std::move(data), work);
}

Task<SharedBytes> hmac_pad_states(Protocol& protocol, const HashFunction& hash, SharedBytes key,
                                  Work work) {
  key.resize(hash.block_bytes);
  SharedBytes inner = key, outer = std::move(key);
  protocol.add_public(inner, Bytes(hash.block_bytes, 0x36));
  protocol.add_public(outer, Bytes(hash.block_bytes, 0x5c));
  const SharedBytes initial = protocol.share_public(hash.initial());
  SharedBytes after_inner, after_outer;
  co_await both(protocol.scheduler(),
                store(protocol.apply(hash.blocks, initial, std::move(inner), work), after_inner),
                store(protocol.apply(hash.blocks, initial, std::move(outer), work), after_outer));
  after_inner.append(after_outer);
  co_return after_inner;
}

Task<SharedBytes> hmac(Protocol& protocol, const HashFunction& hash, const SharedBytes& pads,
                       SharedBytes data, Work work) {
  pad(protocol, hash, data, hash.block_bytes);
  return protocol.apply(hash.hmac, pads, std::move(data), work);
}

}  // namespace tkdc
