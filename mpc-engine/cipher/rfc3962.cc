// SPDX-License-Identifier: Apache-2.0
#include "cipher/rfc3962.h"

#include "cipher/aes_keys.h"
#include "cipher/ghash/gf128.h"

namespace tkdc {
namespace {

constexpr std::size_t kBlock = 16;

// The ciphertext and behind it what `mac` makes of the same message.
using Mac = Task<SharedBytes> (*)(Protocol& protocol, const SharedBytes& pads, SharedBytes data);
Task<SharedBytes> seal(Protocol& protocol, const SharedBytes& ke, const SharedBytes& ki,
                       SharedBytes plaintext, Mac mac) {
  SharedBytes message = protocol.random(kConfounderBytes);
  message.append(plaintext);
  SharedBytes ciphertext, tail;
  co_await both(protocol.scheduler(), store(cts_encrypt(protocol, ke, message), ciphertext),
                store(mac(protocol, ki, message), tail));
  ciphertext.append(tail);
  co_return ciphertext;
}

}  // namespace

Bytes derivation_constant(std::uint32_t usage, DerivedKey kind) {
  return {static_cast<std::uint8_t>(usage >> 24), static_cast<std::uint8_t>(usage >> 16),
          static_cast<std::uint8_t>(usage >> 8), static_cast<std::uint8_t>(usage),
          static_cast<std::uint8_t>(kind)};
}

Task<std::vector<SharedBytes>> derive_keys(Protocol& protocol, const SharedBytes& base_round_keys,
                                           std::size_t key_bytes, std::vector<Bytes> constants) {
  SharedBytes blocks;
  for (const Bytes& constant : constants) blocks.append(protocol.share_public(n_fold(constant)));
  std::vector<SharedBytes> keys(constants.size());
  for (std::size_t have = 0; have < key_bytes; have += kBlock) {
    blocks = co_await protocol.apply(Unit::kAesEncrypt, base_round_keys, std::move(blocks));
    for (std::size_t k = 0; k < keys.size(); ++k) keys[k].append(blocks.slice(kBlock * k, kBlock));
  }
  co_return keys;
}

Task<SharedBytes> hmac_sha1_96(Protocol& protocol, const SharedBytes& pads, SharedBytes data) {
  SharedBytes mac = co_await hmac(protocol, kSha1, pads, std::move(data));
  mac.resize(kChecksumBytes);
  co_return mac;
}

Task<SharedBytes> cts_encrypt(Protocol& protocol, const SharedBytes& round_keys, SharedBytes in) {
  const std::size_t bytes = in.size(), blocks = (bytes + kBlock - 1) / kBlock;
  assert(bytes >= kBlock);
  in.resize(kBlock * blocks);  // the last block is filled up with zeros
  std::vector<SharedBytes> out;
  SharedBytes chain(kBlock);
  for (std::size_t k = 0; k < blocks; ++k) {
    xor_into(chain, in.slice(kBlock * k, kBlock));
    chain = co_await protocol.apply(Unit::kAesEncrypt, round_keys, std::move(chain));
    out.push_back(chain);
  }
  // The last two blocks change places; the one that is then last is cut.
  if (blocks > 1) std::swap(out[blocks - 2], out[blocks - 1]);
  SharedBytes result;
  for (const SharedBytes& block : out) result.append(block);
  result.resize(bytes);
  co_return result;
}

Task<SharedBytes> cts_decrypt(Protocol& protocol, const SharedBytes& round_keys, SharedBytes in) {
  const std::size_t bytes = in.size(), blocks = (bytes + kBlock - 1) / kBlock;
  assert(bytes >= kBlock);
  if (blocks == 1) co_return co_await protocol.apply(Unit::kAesDecrypt, round_keys, std::move(in));
  const std::size_t tail = bytes - kBlock * (blocks - 1);
  const std::size_t stolen_at = kBlock * (blocks - 2), tail_at = kBlock * (blocks - 1);

  // All whole blocks at once; the second to last is the CBC block of the last plaintext.
  SharedBytes plain = co_await protocol.apply(Unit::kAesDecrypt, round_keys, in.slice(0, tail_at));
  SharedBytes last = plain.slice(stolen_at, kBlock);
  SharedBytes previous = in.slice(tail_at, tail);
  previous.append(last.slice(tail, kBlock - tail));  // the stolen octets
  SharedBytes second_last = co_await protocol.apply(Unit::kAesDecrypt, round_keys, previous);
  last.resize(tail);
  xor_into(last, in.slice(tail_at, tail));

  SharedBytes result = plain.slice(0, stolen_at);
  result.append(second_last);
  if (blocks > 2) xor_into(result, in.slice(0, stolen_at), kBlock);
  result.append(last);
  co_return result;
}

Task<SharedBytes> rfc3962_seal(Protocol& protocol, const SharedBytes& ke, const SharedBytes& ki,
                               SharedBytes plaintext) {
  return seal(protocol, ke, ki, std::move(plaintext), hmac_sha1_96);
}

Task<SharedBytes> hmac_sha1_head(Protocol& protocol, const SharedBytes& pads, SharedBytes data) {
  const SharedBytes inner = inner_of(pads);
  SharedBytes first = data.slice(0, kSha1.block_bytes);
  co_return co_await protocol.apply(Unit::kSha1Blocks, inner, std::move(first));
}

Task<SharedBytes> hmac_sha1_96_tail(Protocol& protocol, const SharedBytes& pads,
                                    SharedBytes digest) {
  SharedBytes mac =
      co_await hash_rest(protocol, kSha1, outer_of(pads), std::move(digest), kSha1.block_bytes);
  mac.resize(kChecksumBytes);
  co_return mac;
}

Task<SharedBytes> rfc3962_seal_head(Protocol& protocol, const SharedBytes& ke,
                                    const SharedBytes& ki, SharedBytes plaintext) {
  return seal(protocol, ke, ki, std::move(plaintext), hmac_sha1_head);
}

Task<std::optional<SharedBytes>> rfc3962_open(Protocol& protocol, const SharedBytes& ke,
                                              const SharedBytes& ki, SharedBytes sealed) {
  assert(sealed.size() >= kCtsOverheadBytes);
  const std::size_t bytes = sealed.size() - kChecksumBytes;
  SharedBytes message = co_await cts_decrypt(protocol, ke, sealed.slice(0, bytes));
  SharedBytes difference = co_await hmac_sha1_96(protocol, ki, message);
  xor_into(difference, sealed.slice(bytes, kChecksumBytes));
  bool holds = co_await is_zero(protocol, std::move(difference));
  if (!holds) co_return std::nullopt;
  co_return message.slice(kConfounderBytes, bytes - kConfounderBytes);
}

Task<SharedBytes> rfc3962_prf(Protocol& protocol, const SharedBytes& base_round_keys,
                              std::size_t key_bytes, SharedBytes in) {
  SharedBytes digest =
      co_await hash_rest(protocol, kSha1, protocol.share_public(kSha1.initial()), std::move(in), 0);
  std::vector<Bytes> constants(1);
  constants[0] = {'p', 'r', 'f'};
  std::vector<SharedBytes> key =
      co_await derive_keys(protocol, base_round_keys, key_bytes, std::move(constants));
  const SharedBytes round_keys = co_await aes_expand_key(protocol, std::move(key.front()));
  digest.resize(kBlock);
  co_return co_await protocol.apply(Unit::kAesEncrypt, round_keys, std::move(digest));
}

}  // namespace tkdc
