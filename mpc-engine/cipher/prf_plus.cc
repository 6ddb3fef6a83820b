// SPDX-License-Identifier: Apache-2.0
#include "cipher/prf_plus.h"

#include <openssl/sha.h>

#include <algorithm>

namespace tkdc {
namespace {

constexpr std::size_t kBlock = 16;

Task<SharedBytes> rfc3962_prf_states(Ciphers& ciphers, SharedBytes key) {
  const std::size_t key_bytes = key.size();
  std::vector<SharedBytes> keys;
  keys.push_back(std::move(key));
  std::vector<SharedBytes> base = co_await aes_expand_keys(ciphers.rep3, std::move(keys));
  std::vector<Bytes> constants(1);
  constants[0] = {'p', 'r', 'f'};
  std::vector<SharedBytes> derived =
      co_await derive_keys(ciphers, base.front(), key_bytes, std::move(constants));
  std::vector<SharedBytes> expanded = co_await aes_expand_keys(ciphers.rep3, std::move(derived));
  co_return std::move(expanded.front());
}

Bytes numbered(std::size_t number, const Bytes& input) {
  Bytes out(1 + input.size());
  out[0] = static_cast<std::uint8_t>(number);
  std::copy(input.begin(), input.end(), out.begin() + 1);
  return out;
}

// The input is public, so its hash is too: AES of the digests' first blocks.
Task<SharedBytes> rfc3962_prf_plus(Ciphers& ciphers, const SharedBytes& round_keys, Bytes input,
                                   std::size_t bytes) {
  Bytes blocks;
  for (std::size_t k = 1; blocks.size() < bytes; ++k) {
    const Bytes message = numbered(k, input);
    std::uint8_t digest[SHA_DIGEST_LENGTH];
    ::SHA1(message.data(), message.size(), digest);
    blocks.insert(blocks.end(), digest, digest + kBlock);
  }
  SharedBytes out =
      co_await ciphers.aes.encrypt(round_keys, share_public(ciphers.rep3.party(), blocks));
  out.resize(bytes);
  co_return out;
}

Task<SharedBytes> rfc8009_prf_plus(Ciphers& ciphers, const Rfc8009& sha2, const SharedBytes& states,
                                   Bytes input, std::size_t bytes) {
  const std::size_t half = states.size() / 2;
  const SharedBytes inner = states.slice(0, half), outer = states.slice(half, half);
  HmacKey base = {inner, outer};
  const int party = ciphers.rep3.party();
  std::vector<SharedBytes> parts((bytes + sha2.prf_bytes - 1) / sha2.prf_bytes);
  std::vector<Task<void>> tasks;
  for (std::size_t k = 0; k < parts.size(); ++k)
    tasks.push_back(store(
        rfc8009_prf(ciphers, sha2, base, share_public(party, numbered(k + 1, input))), parts[k]));
  co_await all(ciphers.rep3, std::move(tasks));
  SharedBytes out;
  for (const SharedBytes& part : parts) out.append(part);
  out.resize(bytes);
  co_return out;
}

}  // namespace

Task<SharedBytes> prf_states(Ciphers& ciphers, const Rfc8009* sha2, SharedBytes key) {
  return sha2 == nullptr ? rfc3962_prf_states(ciphers, std::move(key))
                         : sha2_pad_states(ciphers, *sha2, std::move(key));
}

Task<SharedBytes> prf_plus(Ciphers& ciphers, const Rfc8009* sha2, const SharedBytes& states,
                           Bytes input, std::size_t bytes) {
  return sha2 == nullptr ? rfc3962_prf_plus(ciphers, states, std::move(input), bytes)
                         : rfc8009_prf_plus(ciphers, *sha2, states, std::move(input), bytes);
}

}  // namespace tkdc
