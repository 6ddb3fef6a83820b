// SPDX-License-Identifier: Apache-2.0
#include "cipher/hash.h"

namespace tkdc {
Unit chain_of(const HashFunction& hash) {
  return &hash == &kSha1     ? Unit::kSha1Blocks
         : &hash == &kSha256 ? Unit::kSha256Blocks
                             : Unit::kSha384Blocks;
}
Unit hmac_of(const HashFunction& hash) {
  return &hash == &kSha1     ? Unit::kHmacSha1
         : &hash == &kSha256 ? Unit::kHmacSha256
                             : Unit::kHmacSha384;
}

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
  co_return co_await protocol.apply(chain_of(hash), state, std::move(data), work);
}

Task<SharedBytes> hmac_pad_states(Protocol& protocol, const HashFunction& hash, SharedBytes key,
                                  Work work) {
  key.resize(hash.block_bytes);
  SharedBytes inner = key, outer = std::move(key);
  protocol.add_public(inner, Bytes(hash.block_bytes, 0x36));
  protocol.add_public(outer, Bytes(hash.block_bytes, 0x5c));
  const SharedBytes initial = protocol.share_public(hash.initial());
  SharedBytes after_inner, after_outer;
  co_await both(
      protocol.scheduler(),
      store(protocol.apply(chain_of(hash), initial, std::move(inner), work), after_inner),
      store(protocol.apply(chain_of(hash), initial, std::move(outer), work), after_outer));
  after_inner.append(after_outer);
  co_return after_inner;
}

Task<SharedBytes> hmac(Protocol& protocol, const HashFunction& hash, const SharedBytes& pads,
                       SharedBytes data, Work work) {
  pad(protocol, hash, data, hash.block_bytes);
  return protocol.apply(hmac_of(hash), pads, std::move(data), work);
}

}  // namespace tkdc
