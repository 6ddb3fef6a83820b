// SPDX-License-Identifier: Apache-2.0
// Ke in the clear, beside known answers and libkrb5's use of it.
#include "service/export/derived_key.h"

#include <gtest/gtest.h>
#include <krb5/krb5.h>
#include <openssl/evp.h>

#include <memory>

#include "base/hex.h"

namespace tkdc {
namespace {

template <std::size_t N>
SecretVector octets(std::string_view hex) {
  std::array<std::uint8_t, N> out{};
  EXPECT_TRUE(from_hex(hex, out));
  return SecretVector(out.begin(), out.end());
}

// RFC 8009, appendix A.
TEST(EncryptionKey, IsRfc8009s) {
  auto ke = encryption_key_of(19, octets<16>("3705d96080c17728a0e800eab6e0d23c"), 2);
  ASSERT_TRUE(ke.ok());
  EXPECT_EQ(*ke, octets<16>("9b197dd1e8c5609d6e67c3e37c62c72e"));
  ke = encryption_key_of(
      20, octets<32>("6d404d37faf79f9df0d33568d320669800eb4836472ea8a026d16b7182460c52"), 2);
  ASSERT_TRUE(ke.ok());
  EXPECT_EQ(*ke, octets<32>("56ab22bee63d82d7bc5227f6773f8ea7a5eb1c825160c38312980c442e5c7e49"));
}

class KeOfLibkrb5 : public testing::TestWithParam<std::uint32_t> {};

Bytes decrypted_block(const SecretVector& key, const std::uint8_t* block) {
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> aes(EVP_CIPHER_CTX_new(),
                                                                            EVP_CIPHER_CTX_free);
  const auto* cipher = key.size() == 16 ? EVP_aes_128_ecb() : EVP_aes_256_ecb();
  EXPECT_EQ(EVP_DecryptInit_ex2(aes.get(), cipher, key.data(), nullptr, nullptr), 1);
  EVP_CIPHER_CTX_set_padding(aes.get(), 0);
  Bytes out(16);
  int written = 0;
  EXPECT_EQ(EVP_DecryptUpdate(aes.get(), out.data(), &written, block, 16), 1);
  return out;
}

// CBC: of what libkrb5 seals the second block is AES under Ke of the first one ⊕ the plaintext.
TEST_P(KeOfLibkrb5, EncryptsTheSecondBlock) {
  const std::uint32_t enctype = GetParam();
  SecretVector key(enctype % 2 == 1 ? 16 : 32);
  randombytes_buf(key.data(), key.size());
  krb5_context context = nullptr;
  ASSERT_EQ(krb5_init_context(&context), 0);
  krb5_keyblock block{};
  block.enctype = static_cast<krb5_enctype>(enctype);
  block.length = static_cast<unsigned>(key.size());
  block.contents = key.data();
  for (const std::uint32_t usage : {1u, 2u, 3u, 1023u}) {
    std::string plain(48, 'p');
    std::size_t length = 0;
    ASSERT_EQ(krb5_c_encrypt_length(context, block.enctype, plain.size(), &length), 0);
    std::string sealed(length, '\0');
    krb5_data in{};
    in.length = static_cast<unsigned>(plain.size());
    in.data = plain.data();
    krb5_enc_data out{};
    out.ciphertext.length = static_cast<unsigned>(sealed.size());
    out.ciphertext.data = sealed.data();
    ASSERT_EQ(
        krb5_c_encrypt(context, &block, static_cast<krb5_keyusage>(usage), nullptr, &in, &out), 0);
    auto ke = encryption_key_of(enctype, key, usage);
    ASSERT_TRUE(ke.ok());
    const auto* octets = reinterpret_cast<const std::uint8_t*>(sealed.data());
    Bytes second = decrypted_block(*ke, octets + 16);
    for (std::size_t k = 0; k < second.size(); ++k) second[k] ^= octets[k];
    EXPECT_EQ(second, Bytes(16, 'p')) << usage;
    ke = encryption_key_of(enctype, key, usage + 1);
    ASSERT_TRUE(ke.ok());
    second = decrypted_block(*ke, octets + 16);
    for (std::size_t k = 0; k < second.size(); ++k) second[k] ^= octets[k];
    EXPECT_NE(second, Bytes(16, 'p')) << "the control: another usage";
  }
  krb5_free_context(context);
}

INSTANTIATE_TEST_SUITE_P(Enctypes, KeOfLibkrb5, testing::Values(17u, 18u, 19u, 20u));

TEST(EncryptionKey, IsOfAnEnctypesOwnLength) {
  EXPECT_FALSE(encryption_key_of(17, SecretVector(32), 2).ok());
  EXPECT_FALSE(encryption_key_of(20, SecretVector(16), 2).ok());
  EXPECT_FALSE(encryption_key_of(23, SecretVector(16), 2).ok());
}

}  // namespace
}  // namespace tkdc
