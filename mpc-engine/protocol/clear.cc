// SPDX-License-Identifier: Apache-2.0
// EVP cannot begin with a state that somebody else has computed; the hashes' own functions, which
// OpenSSL 3 deprecates, can.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "protocol/clear.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <cassert>
#include <cstring>

#include "base/codec.h"
#include "field/aes_round_keys.h"
#include "protocol/hash.h"

namespace tkdc {
namespace {

constexpr std::size_t kBlock = 16;

// ---- AES

// Round keys begin with the key: 11 of them are AES-128's, 15 AES-256's.
void crypt_blocks(ByteSpan round_keys, SecretVector& data, bool encrypt) {
  assert(data.size() % kBlock == 0 && (round_keys.size() == 176 || round_keys.size() == 240));
  const EVP_CIPHER* cipher = round_keys.size() == 176 ? EVP_aes_128_ecb() : EVP_aes_256_ecb();
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  int bytes = 0;
  const bool done = context != nullptr &&
                    EVP_CipherInit_ex(context, cipher, nullptr, round_keys.data(), nullptr,
                                      encrypt ? 1 : 0) == 1 &&
                    EVP_CIPHER_CTX_set_padding(context, 0) == 1 &&
                    EVP_CipherUpdate(context, data.data(), &bytes, data.data(),
                                     static_cast<int>(data.size())) == 1;
  EVP_CIPHER_CTX_free(context);
  if (!done) std::abort();
}

SecretVector expanded_all(const SecretVector& keys, std::size_t key_bytes) {
  assert(keys.size() % key_bytes == 0);
  const std::size_t count = keys.size() / key_bytes, each = aes_round_key_bytes(key_bytes);
  SecretVector out(count * each);
  for (std::size_t k = 0; k < count; ++k)
    aes_round_keys(ByteSpan(keys).subspan(k * key_bytes, key_bytes),
                   MutableByteSpan(out).subspan(k * each, each));
  return out;
}

// ---- hashes

template <class Word, class Context>
SecretVector hashed_with(ByteSpan state, ByteSpan blocks, std::size_t block_bytes,
                         void (*transform)(Context*, const unsigned char*)) {
  Context context{};
  constexpr std::size_t kWords = sizeof context.h / sizeof context.h[0];
  for (std::size_t k = 0; k < kWords; ++k) {
    context.h[k] = 0;
    for (std::size_t octet = 0; octet < sizeof(Word); ++octet)
      context.h[k] = context.h[k] << 8 | state[sizeof(Word) * k + octet];
  }
  for (std::size_t at = 0; at < blocks.size(); at += block_bytes)
    transform(&context, blocks.data() + at);
  SecretVector out(state.size());
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = static_cast<std::uint8_t>(context.h[k / sizeof(Word)] >>
                                       8 * (sizeof(Word) - 1 - k % sizeof(Word)));
  sodium_memzero(&context, sizeof context);
  return out;
}

// SHA_CTX has five words of their own names.
SecretVector sha1_hashed(ByteSpan state, ByteSpan blocks) {
  SHA_CTX context{};
  SHA_LONG* words[] = {&context.h0, &context.h1, &context.h2, &context.h3, &context.h4};
  for (std::size_t k = 0; k < 5; ++k) *words[k] = Reader(state.subspan(4 * k, 4)).u32();
  for (std::size_t at = 0; at < blocks.size(); at += kSha1.block_bytes)
    SHA1_Transform(&context, blocks.data() + at);
  SecretVector out;
  for (const SHA_LONG* word : words)
    for (int shift = 24; shift >= 0; shift -= 8)
      out.push_back(static_cast<std::uint8_t>(*word >> shift));
  sodium_memzero(&context, sizeof context);
  return out;
}

SecretVector hashed(const HashFunction& hash, ByteSpan state, ByteSpan blocks) {
  assert(state.size() == hash.state_bytes && !blocks.empty() &&
         blocks.size() % hash.block_bytes == 0);
  if (hash.blocks == Unit::kSha1Blocks) return sha1_hashed(state, blocks);
  if (hash.blocks == Unit::kSha256Blocks)
    return hashed_with<SHA_LONG>(state, blocks, hash.block_bytes, SHA256_Transform);
  return hashed_with<SHA_LONG64>(state, blocks, hash.block_bytes, SHA512_Transform);
}

SecretVector mac_of(const HashFunction& hash, ByteSpan pads, ByteSpan blocks) {
  assert(pads.size() == 2 * hash.state_bytes);
  SecretVector digest = hashed(hash, pads.first(hash.state_bytes), blocks);
  digest.resize(hash.digest_bytes);
  const Bytes padding = hash.padding(hash.digest_bytes, hash.block_bytes);
  digest.insert(digest.end(), padding.begin(), padding.end());
  SecretVector mac = hashed(hash, pads.last(hash.state_bytes), digest);
  mac.resize(hash.digest_bytes);
  return mac;
}

}  // namespace

SecretVector compute_clear(Unit unit, ByteSpan held, SecretVector data) {
  switch (unit) {
    case Unit::kAesEncrypt:
    case Unit::kAesDecrypt: crypt_blocks(held, data, unit == Unit::kAesEncrypt); return data;
    case Unit::kAesExpand128: return expanded_all(data, 16);
    case Unit::kAesExpand256: return expanded_all(data, 32);
    case Unit::kSha1Blocks: return hashed(kSha1, held, data);
    case Unit::kSha256Blocks: return hashed(kSha256, held, data);
    case Unit::kSha384Blocks: return hashed(kSha384, held, data);
    case Unit::kHmacSha1: return mac_of(kSha1, held, data);
    case Unit::kHmacSha256: return mac_of(kSha256, held, data);
    case Unit::kHmacSha384: return mac_of(kSha384, held, data);
  }
  std::abort();
}

}  // namespace tkdc
