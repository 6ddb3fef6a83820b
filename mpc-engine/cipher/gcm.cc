// SPDX-License-Identifier: Apache-2.0
#include "cipher/gcm.h"

#include "cipher/ghash/gf128.h"

namespace tkdc {
namespace {

constexpr std::size_t kGcmBlock = 16;

std::size_t blocks_of(std::size_t bytes) { return (bytes + kGcmBlock - 1) / kGcmBlock; }

// H^n for n <= kPowers.
SharedBytes power(const SharedBytes& powers, std::size_t n) {
  return powers.slice(kGcmBlock * (n - 1), kGcmBlock);
}
// H^(kPowers n) for 1 <= n <= kPowers.
SharedBytes long_power(const SharedBytes& powers, std::size_t n) {
  return n == 1 ? power(powers, kPowers) : powers.slice(kGcmBlock * (kPowers + n - 2), kGcmBlock);
}

void put_bit_length(Bytes& out, std::size_t bytes) {
  for (int shift = 56; shift >= 0; shift -= 8)
    out.push_back(static_cast<std::uint8_t>(std::uint64_t{8 * bytes} >> shift));
}

// Chunks of kPowers blocks, counted from the end, are hashed with H^1..H^64 and
// then multiplied by H^(64 c): sum = y_0 + sum over c of y_c H^(64 c).
Task<SharedBytes> join_chunks(Protocol& protocol, const SharedBytes& powers, SharedBytes chunks) {
  SharedBytes sum = chunks.slice(0, kGcmBlock);
  const std::size_t count = chunks.size() / kGcmBlock;
  if (count == 1) co_return sum;
  std::vector<InnerProduct> product(1);
  product[0].a = chunks.slice(kGcmBlock, chunks.size() - kGcmBlock);
  for (std::size_t c = 1; c < count; ++c) product[0].b.append(long_power(powers, c));
  SharedBytes rest = co_await protocol.inner_products(std::move(product));
  xor_into(sum, rest);
  co_return sum;
}

// GHASH of whole public blocks; no message up to kPowers blocks.
Task<SharedBytes> ghash_public(Protocol& protocol, const SharedBytes& powers, Bytes blocks) {
  const std::size_t count = blocks.size() / kGcmBlock;
  SharedBytes chunks(kGcmBlock * ((count + kPowers - 1) / kPowers));
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t from_end = count - 1 - k;
    for (int c = 0; c < 2; ++c)
      gf128_multiply_add(chunks.component[c].data() + kGcmBlock * (from_end / kPowers),
                         blocks.data() + kGcmBlock * k,
                         powers.component[c].data() + kGcmBlock * (from_end % kPowers));
  }
  co_return co_await join_chunks(protocol, powers, std::move(chunks));
}

Task<SharedBytes> ghash_shared(Protocol& protocol, const SharedBytes& powers, SharedBytes blocks) {
  const std::size_t count = blocks.size() / kGcmBlock;
  std::vector<InnerProduct> products((count + kPowers - 1) / kPowers);
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t from_end = count - 1 - k;
    InnerProduct& product = products[from_end / kPowers];
    product.a.append(blocks.slice(kGcmBlock * k, kGcmBlock));
    product.b.append(power(powers, from_end % kPowers + 1));
  }
  SharedBytes chunks = co_await protocol.inner_products(std::move(products));
  co_return co_await join_chunks(protocol, powers, std::move(chunks));
}

// J0 = nonce || 1, then the counter blocks of the keystream (SP 800-38D, 7.1).
Bytes counter_blocks(const GcmNonce& nonce, std::size_t count) {
  Bytes out;
  for (std::uint32_t n = 1; n <= count; ++n) {
    out.insert(out.end(), nonce.begin(), nonce.end());
    for (int shift = 24; shift >= 0; shift -= 8)
      out.push_back(static_cast<std::uint8_t>(n >> shift));
  }
  return out;
}

Bytes ghash_input(const Bytes& associated, const Bytes& ciphertext) {
  Bytes in = associated;
  in.resize(kGcmBlock * blocks_of(associated.size()));
  in.insert(in.end(), ciphertext.begin(), ciphertext.end());
  in.resize(kGcmBlock * blocks_of(in.size()));
  put_bit_length(in, associated.size());
  put_bit_length(in, ciphertext.size());
  return in;
}

// What masks a tag that is right: the tag as received plus GHASH.
Task<SharedBytes> mask_of(Protocol& protocol, const SharedBytes& powers, Bytes associated,
                          Bytes ciphertext, Bytes tag) {
  SharedBytes mask = co_await ghash_public(protocol, powers, ghash_input(associated, ciphertext));
  protocol.add_public(mask, tag);
  co_return mask;
}

// GHASH of shared data and their length.
Task<SharedBytes> hash_to_sign(Protocol& protocol, const SharedBytes& powers, SharedBytes data) {
  const std::size_t data_bytes = data.size();
  data.resize(kGcmBlock * blocks_of(data_bytes) + kGcmBlock);
  Bytes length(8, 0);
  put_bit_length(length, data_bytes);
  protocol.add_public(data, length, data.size() - kGcmBlock);
  co_return co_await ghash_shared(protocol, powers, std::move(data));
}

class Layered final : public GcmCipher {
 public:
  explicit Layered(Protocol& protocol) : protocol_(protocol) {}

  Task<SharedBytes> stream(const SharedBytes& round_keys, GcmNonce nonce,
                           std::size_t bytes) override {
    const Bytes counters = counter_blocks(nonce, 1 + blocks_of(bytes));
    SharedBytes out =
        co_await protocol_.apply(Unit::kAesEncrypt, round_keys, protocol_.share_public(counters));
    out.resize(kGcmBlock + bytes);
    co_return out;
  }

  Task<std::optional<SharedBytes>> stream_if(const SharedBytes& round_keys, GcmNonce nonce,
                                             Task<SharedBytes> mask, std::size_t bytes) override {
    SharedBytes out = co_await stream(round_keys, nonce, bytes);
    SharedBytes difference = co_await std::move(mask);
    xor_into(difference, out.slice(0, kGcmBlock));
    const bool same = co_await is_zero(protocol_, std::move(difference));
    if (!same) co_return std::nullopt;
    co_return out.slice(kGcmBlock, bytes);
  }

  Task<SharedBytes> block(const SharedBytes& round_keys, SharedBytes in) override {
    return protocol_.apply(Unit::kAesEncrypt, round_keys, std::move(in));
  }

  Task<bool> block_is(const SharedBytes& round_keys, SharedBytes in,
                      SharedBytes expected) override {
    SharedBytes out = co_await block(round_keys, std::move(in));
    out.resize(expected.size());
    xor_into(expected, out);
    co_return co_await is_zero(protocol_, std::move(expected));
  }

 private:
  Protocol& protocol_;
};

// The key's own, or one by layers that lives as long as the operation.
class CipherOf {
 public:
  CipherOf(Protocol& protocol, const GcmKey& key)
      : layered_(key.cipher == nullptr ? layered_gcm(protocol) : nullptr),
        cipher_(layered_ ? *layered_ : *key.cipher) {}
  GcmCipher* operator->() { return &cipher_; }

 private:
  std::unique_ptr<GcmCipher> layered_;
  GcmCipher& cipher_;
};

}  // namespace

std::unique_ptr<GcmCipher> layered_gcm(Protocol& protocol) {
  return std::make_unique<Layered>(protocol);
}

Task<SharedBytes> ghash_powers(Protocol& protocol, SharedBytes h) {
  SharedBytes powers = co_await gf128_powers(protocol, std::move(h), kPowers);
  SharedBytes top = power(powers, kPowers);
  SharedBytes longer = co_await gf128_powers(protocol, std::move(top), kPowers);
  powers.append(longer.slice(kGcmBlock, longer.size() - kGcmBlock));
  co_return powers;
}

Task<SharedBytes> gcm_powers(Protocol& protocol, const SharedBytes& round_keys) {
  SharedBytes h = co_await protocol.apply(Unit::kAesEncrypt, round_keys, SharedBytes(kGcmBlock));
  co_return co_await ghash_powers(protocol, std::move(h));
}

Task<SharedBytes> gcm_seal(Protocol& protocol, GcmKey key, GcmNonce nonce, Bytes associated,
                           SharedBytes plaintext) {
  CipherOf cipher(protocol, key);
  const SharedBytes out = co_await cipher->stream(key.round_keys, nonce, plaintext.size());
  SharedBytes sealed = std::move(plaintext);
  xor_into(sealed, out.slice(kGcmBlock, sealed.size()));
  Bytes ciphertext = co_await protocol.open(sealed);
  SharedBytes tag =
      co_await ghash_public(protocol, key.powers, ghash_input(associated, ciphertext));
  xor_into(tag, out.slice(0, kGcmBlock));
  sealed.append(tag);
  co_return sealed;
}

Task<std::optional<SharedBytes>> gcm_open(Protocol& protocol, GcmKey key, GcmNonce nonce,
                                          Bytes associated, Bytes sealed) {
  assert(sealed.size() >= kGcmTagBytes);
  Bytes received_tag(sealed.end() - kGcmTagBytes, sealed.end());
  sealed.resize(sealed.size() - kGcmTagBytes);
  CipherOf cipher(protocol, key);
  auto plain = co_await cipher->stream_if(
      key.round_keys, nonce,
      mask_of(protocol, key.powers, std::move(associated), sealed, std::move(received_tag)),
      sealed.size());
  if (plain) protocol.add_public(*plain, sealed);
  co_return plain;
}

Task<SharedBytes> gcm_sign(Protocol& protocol, GcmKey key, SharedBytes data, std::size_t bytes) {
  assert(bytes <= kGcmBlock);
  SharedBytes hash = co_await hash_to_sign(protocol, key.powers, std::move(data));
  CipherOf cipher(protocol, key);
  SharedBytes signature = co_await cipher->block(key.round_keys, std::move(hash));
  signature.resize(bytes);
  co_return signature;
}

Task<bool> gcm_verify(Protocol& protocol, GcmKey key, SharedBytes data, SharedBytes signature) {
  SharedBytes hash = co_await hash_to_sign(protocol, key.powers, std::move(data));
  CipherOf cipher(protocol, key);
  co_return co_await cipher->block_is(key.round_keys, std::move(hash), std::move(signature));
}

}  // namespace tkdc
