// SPDX-License-Identifier: Apache-2.0
// The reference against the standards' examples and OpenSSL, and the protocol that has it. The
// modes that are built on it are cipher_test's, which runs with it too.
#include "protocol/plaintext.h"

#include <gtest/gtest.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "base/hex.h"
#include "protocol/clear.h"
#include "protocol/hash.h"
#include "support/three_parties.h"

namespace tkdc {
namespace {

constexpr std::array<std::uint8_t, 32> kSeed = {1};

Bytes octets(std::string_view hex) {
  Bytes out(hex.size() / 2);
  EXPECT_TRUE(from_hex(hex, out));
  return out;
}

Bytes apply(Unit unit, ByteSpan held, ByteSpan data) {
  const SecretVector out = compute_clear(unit, held, SecretVector(data.begin(), data.end()));
  return Bytes(out.begin(), out.end());
}

Bytes digest_of(const HashFunction& hash, Unit unit, ByteSpan message) {
  Bytes padded(message.begin(), message.end());
  const Bytes padding = hash.padding(message.size(), 0);
  padded.insert(padded.end(), padding.begin(), padding.end());
  Bytes state = apply(unit, hash.initial(), padded);
  state.resize(hash.digest_bytes);
  return state;
}

// FIPS 197, appendix A.1 and A.3: the last round key; appendix C.1 and C.3.
TEST(Clear, ExpandsKeysAndCryptsAsFips197Says) {
  const Bytes short_keys =
      apply(Unit::kAesExpand128, {}, octets("2b7e151628aed2a6abf7158809cf4f3c"));
  ASSERT_EQ(short_keys.size(), 176u);
  EXPECT_EQ(to_hex(ByteSpan(short_keys).last(16)), "d014f9a8c9ee2589e13f0cc8b6630ca6");
  const Bytes long_keys =
      apply(Unit::kAesExpand256, {},
            octets("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"));
  ASSERT_EQ(long_keys.size(), 240u);
  EXPECT_EQ(to_hex(ByteSpan(long_keys).last(16)), "fe4890d1e6188d0b046df344706c631e");

  const Bytes plain = octets("00112233445566778899aabbccddeeff");
  const Bytes key128 = octets("000102030405060708090a0b0c0d0e0f");
  const Bytes key256 = octets("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
  for (const auto& [unit, key, sealed] :
       {std::tuple{Unit::kAesExpand128, key128, "69c4e0d86a7b0430d8cdb78070b4c55a"},
        std::tuple{Unit::kAesExpand256, key256, "8ea2b7ca516745bfeafc49904b496089"}}) {
    const Bytes keys = apply(unit, {}, key);
    EXPECT_EQ(to_hex(apply(Unit::kAesEncrypt, keys, plain)), sealed);
    EXPECT_EQ(apply(Unit::kAesDecrypt, keys, octets(sealed)), plain);
  }
}

TEST(Clear, ExpandsSeveralKeysOneAfterTheOther) {
  Bytes both = octets("000102030405060708090a0b0c0d0e0f");
  const Bytes first = both, second = octets("2b7e151628aed2a6abf7158809cf4f3c");
  both.insert(both.end(), second.begin(), second.end());
  Bytes expected = apply(Unit::kAesExpand128, {}, first);
  const Bytes rest = apply(Unit::kAesExpand128, {}, second);
  expected.insert(expected.end(), rest.begin(), rest.end());
  EXPECT_EQ(apply(Unit::kAesExpand128, {}, both), expected);
}

TEST(Clear, HashesAsOpensslDoes) {
  for (std::size_t bytes : {0u, 3u, 55u, 56u, 64u, 111u, 112u, 200u, 1000u}) {
    Bytes message;
    message.reserve(1);  // OpenSSL takes no null, not even of no octets
    message.resize(bytes);
    randombytes_buf(message.data(), message.size());
    Bytes sha1(20), sha256(32), sha384(48);
    ::SHA1(message.data(), bytes, sha1.data());
    ::SHA256(message.data(), bytes, sha256.data());
    ::SHA384(message.data(), bytes, sha384.data());
    EXPECT_EQ(digest_of(kSha1, Unit::kSha1Blocks, message), sha1) << bytes;
    EXPECT_EQ(digest_of(kSha256, Unit::kSha256Blocks, message), sha256) << bytes;
    EXPECT_EQ(digest_of(kSha384, Unit::kSha384Blocks, message), sha384) << bytes;
  }
}

TEST(Clear, MakesMacsAsOpensslDoes) {
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
      const Bytes state = apply(c.chain, c.hash.initial(), block);
      pads.insert(pads.end(), state.begin(), state.end());
    }
    Bytes expected(c.hash.digest_bytes);
    ::HMAC(c.reference, key.data(), static_cast<int>(key.size()), message.data(), message.size(),
           expected.data(), nullptr);
    const Bytes padding = c.hash.padding(message.size(), c.hash.block_bytes);
    message.insert(message.end(), padding.begin(), padding.end());
    EXPECT_EQ(apply(c.hmac, pads, message), expected);
  }
}

// Three parties with the protocol.
struct Three {
  Three() : net(Representation::kBytes, 3) {
    for (std::size_t p = 0; p < 3; ++p)
      protocol[p] = std::make_unique<Plaintext>(*net.lane[p], kSeed);
  }
  using Shares = std::array<SharedBytes, 3>;

  Bytes value_of(const Shares& shares) const {
    EXPECT_TRUE(test::ThreeParties::consistent(shares));
    return test::ThreeParties::rebuild(shares);
  }

  test::ThreeParties net;
  std::unique_ptr<Plaintext> protocol[3];
};

TEST(Plaintext, DrawsAlikeAtAllPartiesAndNeverTwice) {
  Three three;
  Three::Shares first, second;
  for (std::size_t p = 0; p < 3; ++p) {
    first[p] = three.protocol[p]->random(32);
    second[p] = three.protocol[p]->random(32);
  }
  EXPECT_NE(three.value_of(first), three.value_of(second));
  EXPECT_NE(three.value_of(first), Bytes(32));
}

TEST(Plaintext, ComputesOnSharesAndCounts) {
  Three three;
  const Bytes key = octets("000102030405060708090a0b0c0d0e0f"),
              plain = octets("00112233445566778899aabbccddeeff");
  const Bytes round_keys = apply(Unit::kAesExpand128, {}, key);
  const auto held = three.net.share(round_keys), data = three.net.share(plain);
  const auto sealed = three.net.shares_of([&](int p) {
    return three.protocol[p]->apply(Unit::kAesEncrypt, held[static_cast<std::size_t>(p)],
                                    data[static_cast<std::size_t>(p)]);
  });
  ASSERT_TRUE(sealed.ok());
  EXPECT_EQ(to_hex(three.value_of(*sealed)), "69c4e0d86a7b0430d8cdb78070b4c55a");
  EXPECT_EQ(three.protocol[0]->counts().aes_blocks, 1u);
  EXPECT_EQ(three.protocol[0]->counts().message_bytes, 176u + 16);
  EXPECT_EQ(three.net.lane[0]->rounds(), 1u);
}

TEST(Plaintext, OpensWhatItHoldsAndAddsPublicOctets) {
  Three three;
  auto shares = three.net.share(octets("0102030405"));
  Bytes opened[3];
  const auto ran = three.net.run([&](int p) {
    SharedBytes& x = shares[static_cast<std::size_t>(p)];
    three.protocol[p]->add_public(x, octets("ff00"), 3);
    return store(three.protocol[p]->open(x), opened[p]);
  });
  ASSERT_TRUE(ran.ok());
  for (const Bytes& one : opened) EXPECT_EQ(to_hex(one), "010203fb05");
  EXPECT_EQ(three.protocol[0]->info().name, "plaintext");
}

}  // namespace
}  // namespace tkdc
