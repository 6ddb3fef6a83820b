// SPDX-License-Identifier: Apache-2.0
// The reference protocol against the standards' examples and OpenSSL. The modes that are built on
// it are cipher_test's, which runs with it too.
#include "protocol/plaintext.h"

#include <gtest/gtest.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "base/hex.h"
#include "protocol/hash.h"

namespace tkdc {
namespace {

constexpr std::array<std::uint8_t, 32> kSeed = {1};

Bytes octets(std::string_view hex) {
  Bytes out(hex.size() / 2);
  EXPECT_TRUE(from_hex(hex, out));
  return out;
}

Task<void> keep(Task<Bytes> task, Bytes& out) { out = co_await task; }

struct One {
  Bytes apply(Unit unit, ByteSpan held, ByteSpan data) {
    const SharedBytes with = Plaintext::share(held);
    SharedBytes out;
    scheduler.spawn(store(protocol.apply(unit, with, Plaintext::share(data)), out));
    scheduler.run();
    EXPECT_EQ(scheduler.tasks(), 0u);
    EXPECT_EQ(out.component[0], out.component[1]);
    return Bytes(out.component[0].begin(), out.component[0].end());
  }
  Bytes digest(const HashFunction& hash, Unit unit, ByteSpan message) {
    Bytes padded(message.begin(), message.end());
    const Bytes padding = hash.padding(message.size(), 0);
    padded.insert(padded.end(), padding.begin(), padding.end());
    Bytes state = apply(unit, hash.initial(), padded);
    state.resize(hash.digest_bytes);
    return state;
  }

  Scheduler scheduler;
  Plaintext protocol{scheduler, 3, kSeed};
};

// FIPS 197, appendix A.1 and A.3: the last round key; appendix C.1 and C.3.
TEST(Plaintext, ExpandsKeysAndCryptsAsFips197Says) {
  One one;
  const Bytes short_keys =
      one.apply(Unit::kAesExpand128, {}, octets("2b7e151628aed2a6abf7158809cf4f3c"));
  ASSERT_EQ(short_keys.size(), 176u);
  EXPECT_EQ(to_hex(ByteSpan(short_keys).last(16)), "d014f9a8c9ee2589e13f0cc8b6630ca6");
  const Bytes long_keys =
      one.apply(Unit::kAesExpand256, {},
                octets("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"));
  ASSERT_EQ(long_keys.size(), 240u);
  EXPECT_EQ(to_hex(ByteSpan(long_keys).last(16)), "fe4890d1e6188d0b046df344706c631e");

  const Bytes plain = octets("00112233445566778899aabbccddeeff");
  const Bytes key128 = octets("000102030405060708090a0b0c0d0e0f");
  const Bytes key256 = octets("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
  for (const auto& [unit, key, sealed] :
       {std::tuple{Unit::kAesExpand128, key128, "69c4e0d86a7b0430d8cdb78070b4c55a"},
        std::tuple{Unit::kAesExpand256, key256, "8ea2b7ca516745bfeafc49904b496089"}}) {
    const Bytes keys = one.apply(unit, {}, key);
    EXPECT_EQ(to_hex(one.apply(Unit::kAesEncrypt, keys, plain)), sealed);
    EXPECT_EQ(one.apply(Unit::kAesDecrypt, keys, octets(sealed)), plain);
  }
}

TEST(Plaintext, ExpandsSeveralKeysOneAfterTheOther) {
  One one;
  Bytes both = octets("000102030405060708090a0b0c0d0e0f");
  const Bytes first = both, second = octets("2b7e151628aed2a6abf7158809cf4f3c");
  both.insert(both.end(), second.begin(), second.end());
  Bytes expected = one.apply(Unit::kAesExpand128, {}, first);
  const Bytes rest = one.apply(Unit::kAesExpand128, {}, second);
  expected.insert(expected.end(), rest.begin(), rest.end());
  EXPECT_EQ(one.apply(Unit::kAesExpand128, {}, both), expected);
}

TEST(Plaintext, HashesAsOpensslDoes) {
  One one;
  for (std::size_t bytes : {0u, 3u, 55u, 56u, 64u, 111u, 112u, 200u, 1000u}) {
    Bytes message(bytes);
    randombytes_buf(message.data(), message.size());
    Bytes sha1(20), sha256(32), sha384(48);
    ::SHA1(message.data(), bytes, sha1.data());
    ::SHA256(message.data(), bytes, sha256.data());
    ::SHA384(message.data(), bytes, sha384.data());
    EXPECT_EQ(one.digest(kSha1, Unit::kSha1Blocks, message), sha1) << bytes;
    EXPECT_EQ(one.digest(kSha256, Unit::kSha256Blocks, message), sha256) << bytes;
    EXPECT_EQ(one.digest(kSha384, Unit::kSha384Blocks, message), sha384) << bytes;
  }
}

TEST(Plaintext, MakesMacsAsOpensslDoes) {
  One one;
  struct Case {
    const HashFunction& hash;
    Unit chain, hmac;
    const EVP_MD* reference;
  };
  for (const Case& c : {Case{kSha1, Unit::kSha1Blocks, Unit::kHmacSha1, EVP_sha1()},
                        Case{kSha256, Unit::kSha256Blocks, Unit::kHmacSha256, EVP_sha256()},
                        Case{kSha384, Unit::kSha384Blocks, Unit::kHmacSha384, EVP_sha384()}}) {
    Bytes key(20), message(150);
    randombytes_buf(key.data(), key.size());
    randombytes_buf(message.data(), message.size());
    Bytes pads;
    for (std::uint8_t pad : {0x36, 0x5c}) {
      Bytes block(c.hash.block_bytes, pad);
      for (std::size_t k = 0; k < key.size(); ++k) block[k] ^= key[k];
      const Bytes state = one.apply(c.chain, c.hash.initial(), block);
      pads.insert(pads.end(), state.begin(), state.end());
    }
    Bytes expected(c.hash.digest_bytes);
    ::HMAC(c.reference, key.data(), static_cast<int>(key.size()), message.data(), message.size(),
           expected.data(), nullptr);
    const Bytes padding = c.hash.padding(message.size(), c.hash.block_bytes);
    message.insert(message.end(), padding.begin(), padding.end());
    EXPECT_EQ(one.apply(c.hmac, pads, message), expected);
  }
}

TEST(Plaintext, DrawsAlikeAtAllPartiesAndNeverTwice) {
  Scheduler scheduler;
  Plaintext a(scheduler, 3, kSeed), b(scheduler, 3, kSeed);
  const SharedBytes first = a.random(32);
  EXPECT_EQ(first.component[0], b.random(32).component[0]);
  EXPECT_NE(first.component[0], a.random(32).component[0]);
}

TEST(Plaintext, OpensWhatItHoldsAndAddsPublicOctets) {
  One one;
  SharedBytes x = Plaintext::share(octets("0102030405"));
  one.protocol.add_public(x, octets("ff00"), 3);
  Bytes opened;
  one.scheduler.spawn(keep(one.protocol.open(x), opened));
  one.scheduler.run();
  EXPECT_EQ(to_hex(opened), "010203fb05");
  EXPECT_EQ(one.protocol.info().name, "plaintext");
}

TEST(Plaintext, CountsBlocks) {
  One one;
  const Bytes keys = one.apply(Unit::kAesExpand128, {}, Bytes(16));
  one.apply(Unit::kAesEncrypt, keys, Bytes(48));
  one.apply(Unit::kSha1Blocks, kSha1.initial(), Bytes(128));
  EXPECT_EQ(one.protocol.counts().aes_blocks, 3u);
  EXPECT_EQ(one.protocol.counts().sha1_blocks, 2u);
  EXPECT_EQ(one.protocol.counts().message_bytes, 0u);
}

}  // namespace
}  // namespace tkdc
