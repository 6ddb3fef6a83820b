// SPDX-License-Identifier: Apache-2.0
#include "cipher/prf_plus.h"

#include <openssl/sha.h>

#include <algorithm>

#include "cipher/aes_keys.h"

namespace tkdc {
namespace {

constexpr std::size_t kAesBlock = 16;

Task<SharedBytes> rfc3962_prf_states(Protocol& protocol, SharedBytes key) {
  const std::size_t key_bytes = key.size();
  const SharedBytes base = co_await aes_expand_key(protocol, std::move(key));
  std::vector<Bytes> constants(1);
  constants[0] = {'p', 'r', 'f'};
  std::vector<SharedBytes> derived =
      co_await derive_keys(protocol, base, key_bytes, std::move(constants));
  co_return co_await aes_expand_key(protocol, std::move(derived.front()));
}

Bytes numbered(std::size_t number, const Bytes& input) {
  Bytes out(1 + input.size());
  out[0] = static_cast<std::uint8_t>(number);
  std::copy(input.begin(), input.end(), out.begin() + 1);
  return out;
}

// The input is public, so its hash is too: AES of the digests' first blocks.
Task<SharedBytes> rfc3962_prf_plus(Protocol& protocol, const SharedBytes& round_keys, Bytes input,
                                   std::size_t bytes) {
  Bytes blocks;
  for (std::size_t k = 1; blocks.size() < bytes; ++k) {
    const Bytes message = numbered(k, input);
    std::uint8_t digest[SHA_DIGEST_LENGTH];
    ::SHA1(message.data(), message.size(), digest);
    blocks.insert(blocks.end(), digest, digest + kAesBlock);
  }
  SharedBytes out =
      co_await protocol.apply(Unit::kAesEncrypt, round_keys, protocol.share_public(blocks));
  out.resize(bytes);
  co_return out;
}

Task<SharedBytes> rfc8009_prf_plus(Protocol& protocol, const Rfc8009& sha2,
                                   const SharedBytes& states, Bytes input, std::size_t bytes) {
  std::vector<SharedBytes> parts((bytes + sha2.prf_bytes - 1) / sha2.prf_bytes);
  std::vector<Task<void>> tasks;
  for (std::size_t k = 0; k < parts.size(); ++k)
    tasks.push_back(
        store(rfc8009_prf(protocol, sha2, states, protocol.share_public(numbered(k + 1, input))),
              parts[k]));
  co_await all(protocol.scheduler(), std::move(tasks));
  SharedBytes out;
  for (const SharedBytes& part : parts) out.append(part);
  out.resize(bytes);
  co_return out;
}

}  // namespace

Task<SharedBytes> prf_states(Protocol& protocol, const Rfc8009* sha2, SharedBytes key) {
  return sha2 == nullptr ? rfc3962_prf_states(protocol, std::move(key))
                         : hmac_pad_states(protocol, sha2->hash, std::move(key));
}

Task<SharedBytes> prf_plus(Protocol& protocol, const Rfc8009* sha2, const SharedBytes& states,
                           Bytes input, std::size_t bytes) {
  return sha2 == nullptr ? rfc3962_prf_plus(protocol, states, std::move(input), bytes)
                         : rfc8009_prf_plus(protocol, *sha2, states, std::move(input), bytes);
}

}  // namespace tkdc
