// SPDX-License-Identifier: Apache-2.0
// AES and CTS as circuits: FIPS 197, RFC 3962, and OpenSSL on random values.
#include <openssl/evp.h>

#include "circuit_values.h"
#include "circuits/aes.h"

namespace tkdc::circuit {
namespace {

const Bytes kPlain = octets("00112233445566778899aabbccddeeff");
const Bytes kKey128 = octets("000102030405060708090a0b0c0d0e0f");
const Bytes kKey256 = octets("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");

// FIPS 197, section 5.1.1 by OpenSSL's: S(x) is in the first round key that follows a key of x.
TEST(AesCircuit, SubstitutesEveryOctetAndBack) {
  for (unsigned x = 0; x < 256; ++x) {
    const Bytes key(16, static_cast<std::uint8_t>(x));
    const std::uint8_t image = in_clear(Unit::kAesExpand128, {}, key)[17] ^ key[1];
    EXPECT_EQ(run_named("aes-sbox", {{static_cast<std::uint8_t>(x)}})[0], image) << x;
    EXPECT_EQ(run_named("aes-inverse-sbox", {{image}})[0], x);
  }
}

// FIPS 197, appendix A.1 and A.3.
TEST(AesCircuit, ExpandsTheStandardsKeys) {
  const Bytes keys128 = run_named("aes128-expand", {octets("2b7e151628aed2a6abf7158809cf4f3c")});
  EXPECT_EQ(to_hex(ByteSpan(keys128).last(16)), "d014f9a8c9ee2589e13f0cc8b6630ca6");
  const Bytes keys256 =
      run_named("aes256-expand",
                {octets("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")});
  EXPECT_EQ(to_hex(ByteSpan(keys256).last(16)), "fe4890d1e6188d0b046df344706c631e");
}

// FIPS 197, appendix C.1 and C.3.
TEST(AesCircuit, CryptsTheStandardsBlocks) {
  const Bytes keys128 = run_named("aes128-expand", {kKey128});
  const Bytes keys256 = run_named("aes256-expand", {kKey256});
  const Bytes sealed128 = octets("69c4e0d86a7b0430d8cdb78070b4c55a");
  const Bytes sealed256 = octets("8ea2b7ca516745bfeafc49904b496089");
  EXPECT_EQ(run_named("aes128-encrypt", {keys128, kPlain}), sealed128);
  EXPECT_EQ(run_named("aes128-decrypt", {keys128, sealed128}), kPlain);
  EXPECT_EQ(run_named("aes256-encrypt", {keys256, kPlain}), sealed256);
  EXPECT_EQ(run_named("aes256-decrypt", {keys256, sealed256}), kPlain);
  EXPECT_EQ(run_named("aes128", {kKey128, kPlain}), sealed128);
  EXPECT_EQ(run_named("aes256", {kKey256, kPlain}), sealed256);
}

TEST(AesCircuit, CryptsAsOpensslDoesInAllInstances) {
  struct Case {
    const char* name;
    Unit expand, crypt;
    std::size_t key_bytes;
  };
  for (const Case& one : {Case{"aes128-encrypt", Unit::kAesExpand128, Unit::kAesEncrypt, 16},
                          Case{"aes128-decrypt", Unit::kAesExpand128, Unit::kAesDecrypt, 16},
                          Case{"aes256-encrypt", Unit::kAesExpand256, Unit::kAesEncrypt, 32},
                          Case{"aes256-decrypt", Unit::kAesExpand256, Unit::kAesDecrypt, 32}}) {
    Instances values(2);
    for (std::size_t k = 0; k < kInstances; ++k) {
      values[0].push_back(in_clear(one.expand, {}, random_octets(one.key_bytes)));
      values[1].push_back(random_octets(16));
    }
    const auto out = evaluate(schedule_of(circuit_named(one.name)), slices_of_all(values));
    for (std::size_t k = 0; k < kInstances; ++k)
      ASSERT_EQ(bytes_of(out[0], k), in_clear(one.crypt, values[0][k], values[1][k])) << one.name;
  }
}

TEST(AesCircuit, ExpandsAsOpensslDoes) {
  for (const std::size_t bytes : {16u, 32u}) {
    const Instances keys = random_instances(std::array{bytes});
    const auto out =
        evaluate(schedule_of(circuit_named(bytes == 16 ? "aes128-expand" : "aes256-expand")),
                 slices_of_all(keys));
    const Unit unit = bytes == 16 ? Unit::kAesExpand128 : Unit::kAesExpand256;
    for (std::size_t k = 0; k < kInstances; ++k)
      ASSERT_EQ(bytes_of(out[0], k), in_clear(unit, {}, keys[0][k]));
  }
}

// RFC 3962, appendix B: "chicken teriyaki", prefixes of one text, initial vector zero.
TEST(CtsCircuit, KnowsTheAnswersOfRfc3962) {
  const Bytes keys = in_clear(Unit::kAesExpand128, {}, octets("636869636b656e207465726979616b69"));
  const Bytes iv(16), text = octets(
                          "4920776f756c64206c696b65207468652047656e6572616c20476175277320436869"
                          "636b656e2c20706c656173652c20616e6420776f6e746f6e20736f75702e");
  ASSERT_EQ(text.size(), 64u);
  const std::pair<std::size_t, const char*> cases[] = {
      {17, "c6353568f2bf8cb4d8a580362da7ff7f97"},
      {31, "fc00783e0efdb2c1d445d4c8eff7ed2297687268d6ecccc0c07b25e25ecfe5"},
      {32, "39312523a78662d5be7fcbcc98ebf5a897687268d6ecccc0c07b25e25ecfe584"},
      {47,
       "97687268d6ecccc0c07b25e25ecfe584b3fffd940c16a18c1b5549d2f838029e39312523a78662d5be7fcbcc98"
       "ebf5"},
      {48,
       "97687268d6ecccc0c07b25e25ecfe5849dad8bbb96c4cdc03bc103e1a194bbd839312523a78662d5be7fcbcc98"
       "ebf5a8"},
      {64,
       "97687268d6ecccc0c07b25e25ecfe58439312523a78662d5be7fcbcc98ebf5a84807efe836ee89a526730dbc2f"
       "7bc8409dad8bbb96c4cdc03bc103e1a194bbd8"}};
  for (const auto& [bytes, sealed] : cases) {
    const Bytes plain(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bytes));
    const std::string size = ":" + std::to_string(bytes);
    EXPECT_EQ(to_hex(run_named("cts128-encrypt" + size, {keys, iv, plain})), sealed) << bytes;
    EXPECT_EQ(run_named("cts128-decrypt" + size, {keys, iv, octets(sealed)}), plain) << bytes;
  }
}

// OpenSSL's CBC-CTS in the way of Kerberos.
Bytes openssl_cts(const Bytes& key, const Bytes& iv, const Bytes& plain) {
  EVP_CIPHER* cipher = EVP_CIPHER_fetch(nullptr, "AES-256-CBC-CTS", nullptr);
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  char mode[] = "CS3";
  const OSSL_PARAM params[] = {OSSL_PARAM{"cts_mode", OSSL_PARAM_UTF8_STRING, mode, 3, 0},
                               OSSL_PARAM{nullptr, 0, nullptr, 0, 0}};
  Bytes out(plain.size());
  int bytes = 0;
  EXPECT_EQ(EVP_EncryptInit_ex2(context, cipher, key.data(), iv.data(), params), 1);
  EXPECT_EQ(
      EVP_EncryptUpdate(context, out.data(), &bytes, plain.data(), static_cast<int>(plain.size())),
      1);
  EXPECT_EQ(static_cast<std::size_t>(bytes), plain.size());
  EVP_CIPHER_CTX_free(context);
  EVP_CIPHER_free(cipher);
  return out;
}

TEST(CtsCircuit, SealsAndOpensAsOpensslDoes) {
  const Bytes key = random_octets(32), keys = in_clear(Unit::kAesExpand256, {}, key);
  for (const std::size_t bytes : {16u, 17u, 24u, 31u, 32u, 33u, 47u, 48u, 49u}) {
    const Bytes iv = random_octets(16), plain = random_octets(bytes);
    const Bytes sealed = openssl_cts(key, iv, plain);
    const std::string size = ":" + std::to_string(bytes);
    EXPECT_EQ(run_named("cts256-encrypt" + size, {keys, iv, plain}), sealed) << bytes;
    EXPECT_EQ(run_named("cts256-decrypt" + size, {keys, iv, sealed}), plain) << bytes;
  }
}

}  // namespace
}  // namespace tkdc::circuit
