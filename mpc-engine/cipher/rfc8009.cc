// SPDX-License-Identifier: Apache-2.0
#include "cipher/rfc8009.h"

#include "cipher/ghash/gf128.h"

namespace tkdc {
namespace {

constexpr std::size_t kIvBytes = 16;  // the cipher state, zero in Kerberos

Task<SharedBytes> truncated(Protocol& protocol, const Rfc8009& enctype, const SharedBytes& pads,
                            SharedBytes data, std::size_t bytes) {
  SharedBytes mac = co_await hmac(protocol, enctype.hash, pads, std::move(data));
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

Task<SharedBytes> rfc8009_mac(Protocol& protocol, const Rfc8009& enctype, const SharedBytes& pads,
                              SharedBytes data) {
  return truncated(protocol, enctype, pads, std::move(data), enctype.tag_bytes);
}

Task<SharedBytes> rfc8009_kdf(Protocol& protocol, const Rfc8009& enctype, const SharedBytes& base,
                              Bytes label, const SharedBytes& context, std::size_t bytes) {
  assert(bytes <= enctype.hash.digest_bytes);
  // 0x00000001 | label | 0x00 | context | length in bits
  Bytes front = big_endian(1);
  front.insert(front.end(), label.begin(), label.end());
  front.push_back(0);
  SharedBytes message = protocol.share_public(front);
  message.append(context);
  message.append(protocol.share_public(big_endian(8 * bytes)));
  return truncated(protocol, enctype, base, std::move(message), bytes);
}

Task<std::vector<SharedBytes>> rfc8009_derive(Protocol& protocol, const Rfc8009& enctype,
                                              const SharedBytes& base, std::vector<Bytes> labels,
                                              std::vector<std::size_t> bytes) {
  std::vector<SharedBytes> keys(labels.size());
  std::vector<Task<void>> tasks;
  for (std::size_t k = 0; k < keys.size(); ++k)
    tasks.push_back(
        store(rfc8009_kdf(protocol, enctype, base, labels[k], SharedBytes(), bytes[k]), keys[k]));
  co_await all(protocol.scheduler(), std::move(tasks));
  co_return keys;
}

Task<SharedBytes> rfc8009_seal(Protocol& protocol, const Rfc8009& enctype, const SharedBytes& ke,
                               const SharedBytes& ki, SharedBytes plaintext) {
  SharedBytes message = protocol.random(kConfounderBytes);
  message.append(plaintext);
  SharedBytes sealed = co_await cts_encrypt(protocol, ke, std::move(message));
  SharedBytes mac = co_await rfc8009_mac(protocol, enctype, ki, authenticated(sealed));
  sealed.append(mac);
  co_return sealed;
}

Task<std::optional<SharedBytes>> rfc8009_open(Protocol& protocol, const Rfc8009& enctype,
                                              const SharedBytes& ke, const SharedBytes& ki,
                                              SharedBytes sealed) {
  assert(sealed.size() >= enctype.overhead_bytes());
  const std::size_t bytes = sealed.size() - enctype.tag_bytes;
  const SharedBytes ciphertext = sealed.slice(0, bytes);
  SharedBytes message, difference;
  co_await both(protocol.scheduler(), store(cts_decrypt(protocol, ke, ciphertext), message),
                store(rfc8009_mac(protocol, enctype, ki, authenticated(ciphertext)), difference));
  xor_into(difference, sealed.slice(bytes, enctype.tag_bytes));
  bool holds = co_await is_zero(protocol, std::move(difference));
  if (!holds) co_return std::nullopt;
  co_return message.slice(kConfounderBytes, bytes - kConfounderBytes);
}

Task<SharedBytes> rfc8009_prf(Protocol& protocol, const Rfc8009& enctype, const SharedBytes& base,
                              const SharedBytes& in) {
  return rfc8009_kdf(protocol, enctype, base, {'p', 'r', 'f'}, in, enctype.prf_bytes);
}

}  // namespace tkdc
