// SPDX-License-Identifier: Apache-2.0
// AES-GCM on shares against the GCM specification's test cases and OpenSSL.
#include "cipher/gcm.h"

#include <openssl/evp.h>

#include "cipher/ghash/gf128.h"
#include "support/parties_with_ciphers.h"
#include "support/protocol_parties.h"

namespace tkdc {
namespace {

using test::from_hex;
using test::ProtocolParties;
using Shares = ProtocolParties::Shares;

Bytes openssl_seal(ByteSpan key, const GcmNonce& nonce, const Bytes& aad, ByteSpan plain) {
  EVP_CIPHER_CTX* ctx = EVP_CIPHER_CTX_new();
  EVP_EncryptInit_ex(ctx, key.size() == 16 ? EVP_aes_128_gcm() : EVP_aes_256_gcm(), nullptr,
                     key.data(), nonce.data());
  Bytes out(plain.size() + 16);
  int n = 0;
  EVP_EncryptUpdate(ctx, nullptr, &n, aad.data(), static_cast<int>(aad.size()));
  EVP_EncryptUpdate(ctx, out.data(), &n, plain.data(), static_cast<int>(plain.size()));
  EVP_EncryptFinal_ex(ctx, out.data() + n, &n);
  EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, 16, out.data() + plain.size());
  EVP_CIPHER_CTX_free(ctx);
  return out;
}

struct Gcm : ProtocolParties {
  Gcm(std::uint64_t seed, ByteSpan key) : ProtocolParties(seed), round_keys(expand(key)) {
    powers = shares_of([&](Protocol& c, int p) { return gcm_powers(c, round_keys[p]); });
  }
  GcmKey key(int p) const { return {round_keys[p], powers[p]}; }

  Bytes seal(const GcmNonce& nonce, const Bytes& aad, ByteSpan plain) {
    Shares in = share(plain);
    return value_of([&](Protocol& c, int p) { return gcm_seal(c, key(p), nonce, aad, in[p]); });
  }
  // The plaintext, or nothing; all parties must decide alike.
  std::optional<Bytes> open(const GcmNonce& nonce, const Bytes& aad, const Bytes& sealed) {
    Shares out;
    bool refused[3] = {};
    run_all(1, [&](Protocol& c, int p, std::size_t) {
      return open_one(c, key(p), nonce, aad, sealed, out[p], refused[p]);
    });
    EXPECT_TRUE(refused[0] == refused[1] && refused[1] == refused[2]);
    if (refused[0]) return std::nullopt;
    return rebuild(out);
  }
  static Task<void> open_one(Protocol& c, GcmKey k, GcmNonce nonce, Bytes aad, Bytes sealed,
                             SharedBytes& out, bool& refused) {
    auto plain = co_await gcm_open(c, k, nonce, aad, sealed);
    refused = !plain.has_value();
    if (plain) out = std::move(*plain);
  }
  Shares round_keys, powers;
};

GcmNonce nonce_of(std::string_view hex) {
  GcmNonce nonce{};
  EXPECT_TRUE(tkdc::from_hex(hex, nonce));
  return nonce;
}

// McGrew and Viega, "The Galois/Counter Mode of Operation", test cases 4 and 16.
TEST(GcmOnShares, SpecificationTestCases) {
  const Bytes plain = from_hex(
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6"
      "b525b16aedf5aa0de657ba637b39");
  const Bytes aad = from_hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
  const GcmNonce nonce = nonce_of("cafebabefacedbaddecaf888");
  Gcm aes128(1, from_hex("feffe9928665731c6d6a8f9467308308"));
  EXPECT_EQ(
      aes128.seal(nonce, aad, plain),
      from_hex("42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c"
               "7d8f6a5aac84aa051ba30b396a0aac973d58e0915bc94fbc3221a5db94fae95ae7121a47"));
  Gcm aes256(2, from_hex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"));
  EXPECT_EQ(
      aes256.seal(nonce, aad, plain),
      from_hex("522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3d"
               "a7b08b1056828838c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b"));
}

TEST(GcmOnShares, AgreesWithOpensslAndOpensItsOwn) {
  std::mt19937_64 rng(3);
  for (std::size_t key_bytes : {16u, 32u}) {
    auto key = test::random_bytes(rng, key_bytes);
    Gcm gcm(4, key);
    // 1,100 and 3,000 octets need more blocks than there are short powers.
    for (std::size_t bytes : {0u, 1u, 15u, 16u, 17u, 162u, 309u, 1100u, 3000u}) {
      auto plain = test::random_bytes(rng, bytes);
      auto aad = test::random_bytes(rng, bytes % 50);
      GcmNonce nonce;
      for (auto& octet : nonce) octet = static_cast<std::uint8_t>(rng());
      Bytes sealed = gcm.seal(nonce, Bytes(aad.begin(), aad.end()), plain);
      EXPECT_EQ(sealed, openssl_seal(key, nonce, Bytes(aad.begin(), aad.end()), plain)) << bytes;
      auto opened = gcm.open(nonce, Bytes(aad.begin(), aad.end()), sealed);
      ASSERT_TRUE(opened.has_value()) << bytes;
      EXPECT_EQ(*opened, Bytes(plain.begin(), plain.end())) << bytes;
    }
  }
}

TEST(GcmOnShares, AnyChangeIsRefused) {
  std::mt19937_64 rng(5);
  auto key = test::random_bytes(rng, 32);
  Gcm gcm(6, key);
  GcmNonce nonce{};
  const Bytes aad = {1, 2, 3};
  Bytes sealed = gcm.seal(nonce, aad, test::random_bytes(rng, 40));
  for (std::size_t k = 0; k < sealed.size(); k += 5) {
    Bytes forged = sealed;
    forged[k] ^= static_cast<std::uint8_t>(1 << k % 8);
    EXPECT_FALSE(gcm.open(nonce, aad, forged).has_value()) << k;
  }
  EXPECT_FALSE(gcm.open(nonce, {1, 2, 4}, sealed).has_value());
  GcmNonce other{};
  other[11] = 1;
  EXPECT_FALSE(gcm.open(other, aad, sealed).has_value());
  EXPECT_TRUE(gcm.open(nonce, aad, sealed).has_value());
}

// The plaintext backend: GHASH in the clear with the same field, AES by OpenSSL.
Bytes sign_in_the_clear(ByteSpan key, ByteSpan data) {
  auto aes = [&](ByteSpan block) {
    GcmNonce unused{};
    (void)unused;
    EVP_CIPHER_CTX* ctx = EVP_CIPHER_CTX_new();
    EVP_EncryptInit_ex(ctx, EVP_aes_256_ecb(), nullptr, key.data(), nullptr);
    Bytes out(32);
    int n = 0;
    EVP_EncryptUpdate(ctx, out.data(), &n, block.data(), 16);
    EVP_CIPHER_CTX_free(ctx);
    out.resize(16);
    return out;
  };
  Bytes h = aes(Bytes(16)), padded(data.begin(), data.end());
  padded.resize((data.size() + 15) / 16 * 16 + 16);
  for (int k = 0; k < 8; ++k)
    padded[padded.size() - 1 - k] = static_cast<std::uint8_t>(8 * data.size() >> 8 * k);
  Bytes y(16);
  for (std::size_t k = 0; k < padded.size(); k += 16) {
    xor_bytes(y.data(), padded.data() + k, 16);
    Bytes next(16);
    gf128_multiply_add(next.data(), y.data(), h.data());
    y = next;
  }
  Bytes signature = aes(y);
  signature.resize(12);
  return signature;
}

TEST(GcmOnShares, SignatureAgreesWithThePlaintextBackend) {
  std::mt19937_64 rng(7);
  auto key = test::random_bytes(rng, 32);
  Gcm gcm(8, key);
  for (std::size_t bytes : {0u, 1u, 12u, 16u, 112u, 192u, 1500u}) {
    auto data = test::random_bytes(rng, bytes);
    Shares in = gcm.share(data);
    EXPECT_EQ(gcm.value_of([&](Protocol& c, int p) { return gcm_sign(c, gcm.key(p), in[p]); }),
              sign_in_the_clear(key, data))
        << bytes;
  }
}

// Without the length block, data and data || 0 would have one signature.
TEST(GcmOnShares, SignatureTellsLengthsApart) {
  std::mt19937_64 rng(9);
  auto key = test::random_bytes(rng, 32);
  Gcm gcm(10, key);
  Bytes signatures[2];
  for (std::size_t k = 0; k < 2; ++k) {
    Shares in = gcm.share(Bytes(15 + k));
    signatures[k] =
        gcm.value_of([&](Protocol& c, int p) { return gcm_sign(c, gcm.key(p), in[p]); });
  }
  EXPECT_NE(signatures[0], signatures[1]);
}

}  // namespace
}  // namespace tkdc
