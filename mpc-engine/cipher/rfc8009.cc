// SPDX-License-Identifier: Apache-2.0
#include "cipher/rfc8009.h"

#include "cipher/ghash/gf128.h"

namespace tkdc {
namespace {

constexpr std::size_t kIvBytes = 16;  // the cipher state, zero in Kerberos

Sha2& hash_of(Ciphers& ciphers, const Rfc8009& enctype) {
  return &enctype.hash == &kSha256 ? ciphers.sha256 : ciphers.sha384;
}

Task<SharedBytes> hmac(Ciphers& ciphers, const Rfc8009& enctype, HmacKey key, SharedBytes data,
                       std::size_t bytes) {
  Sha2& sha2 = hash_of(ciphers, enctype);
  const std::size_t before = enctype.hash.block_bytes;
  SharedBytes digest = co_await sha2.finish(key.inner, std::move(data), before);
  digest.resize(enctype.hash.digest_bytes);
  SharedBytes mac = co_await sha2.finish(key.outer, std::move(digest), before);
  mac.resize(bytes);
  co_return mac;
}

Bytes big_endian(std::size_t value) {
  return {static_cast<std::uint8_t>(value >> 24), static_cast<std::uint8_t>(value >> 16),
          static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value)};
}

// What the MAC of a message covers: the cipher state and the ciphertext.
SharedBytes authenticated(const SharedBytes& ciphertext) {
  SharedBytes out(kIvBytes);
  out.append(ciphertext);
  return out;
}

}  // namespace

const Rfc8009& rfc8009_of(std::size_t key_bytes) {
  static const Rfc8009 kAes128 = {kSha256, 16, 16, 16, 32};
  static const Rfc8009 kAes256 = {kSha384, 32, 24, 24, 48};
  return key_bytes == 16 ? kAes128 : kAes256;
}

Task<SharedBytes> sha2_pad_states(Ciphers& ciphers, const Rfc8009& enctype, SharedBytes key) {
  Sha2& sha2 = hash_of(ciphers, enctype);
  const std::size_t block_bytes = enctype.hash.block_bytes;
  key.resize(block_bytes);
  SharedBytes inner = key, outer = std::move(key);
  xor_public(inner, ciphers.rep3.party(), Bytes(block_bytes, 0x36));
  xor_public(outer, ciphers.rep3.party(), Bytes(block_bytes, 0x5c));
  SharedBytes after_inner, after_outer;
  co_await both(ciphers.rep3, store(sha2.compress(sha2.initial(), std::move(inner)), after_inner),
                store(sha2.compress(sha2.initial(), std::move(outer)), after_outer));
  after_inner.append(after_outer);
  co_return after_inner;
}

Task<SharedBytes> rfc8009_mac(Ciphers& ciphers, const Rfc8009& enctype, HmacKey key,
                              SharedBytes data) {
  return hmac(ciphers, enctype, key, std::move(data), enctype.tag_bytes);
}

Task<SharedBytes> rfc8009_kdf(Ciphers& ciphers, const Rfc8009& enctype, HmacKey base, Bytes label,
                              const SharedBytes& context, std::size_t bytes) {
  assert(bytes <= enctype.hash.digest_bytes);
  // 0x00000001 | label | 0x00 | context | length in bits
  Bytes front = big_endian(1);
  front.insert(front.end(), label.begin(), label.end());
  front.push_back(0);
  const int party = ciphers.rep3.party();
  SharedBytes message = share_public(party, front);
  message.append(context);
  message.append(share_public(party, big_endian(8 * bytes)));
  return hmac(ciphers, enctype, base, std::move(message), bytes);
}

Task<std::vector<SharedBytes>> rfc8009_derive(Ciphers& ciphers, const Rfc8009& enctype,
                                              HmacKey base, std::vector<Bytes> labels,
                                              std::vector<std::size_t> bytes) {
  std::vector<SharedBytes> keys(labels.size());
  std::vector<Task<void>> tasks;
  for (std::size_t k = 0; k < keys.size(); ++k)
    tasks.push_back(
        store(rfc8009_kdf(ciphers, enctype, base, labels[k], SharedBytes(), bytes[k]), keys[k]));
  co_await all(ciphers.rep3, std::move(tasks));
  co_return keys;
}

Task<SharedBytes> rfc8009_seal(Ciphers& ciphers, const Rfc8009& enctype, const SharedBytes& ke,
                               HmacKey ki, SharedBytes plaintext) {
  SharedBytes message = ciphers.rep3.random(kConfounderBytes);
  message.append(plaintext);
  SharedBytes sealed = co_await cts_encrypt(ciphers, ke, std::move(message));
  SharedBytes mac = co_await rfc8009_mac(ciphers, enctype, ki, authenticated(sealed));
  sealed.append(mac);
  co_return sealed;
}

Task<std::optional<SharedBytes>> rfc8009_open(Ciphers& ciphers, const Rfc8009& enctype,
                                              const SharedBytes& ke, HmacKey ki,
                                              SharedBytes sealed) {
  assert(sealed.size() >= enctype.overhead_bytes());
  const std::size_t bytes = sealed.size() - enctype.tag_bytes;
  const SharedBytes ciphertext = sealed.slice(0, bytes);
  SharedBytes message, difference;
  co_await both(ciphers.rep3, store(cts_decrypt(ciphers, ke, ciphertext), message),
                store(rfc8009_mac(ciphers, enctype, ki, authenticated(ciphertext)), difference));
  xor_into(difference, sealed.slice(bytes, enctype.tag_bytes));
  bool holds = co_await is_zero(ciphers.rep3, std::move(difference));
  if (!holds) co_return std::nullopt;
  co_return message.slice(kConfounderBytes, bytes - kConfounderBytes);
}

Task<SharedBytes> rfc8009_prf(Ciphers& ciphers, const Rfc8009& enctype, HmacKey base,
                              const SharedBytes& in) {
  return rfc8009_kdf(ciphers, enctype, base, {'p', 'r', 'f'}, in, enctype.prf_bytes);
}

}  // namespace tkdc
