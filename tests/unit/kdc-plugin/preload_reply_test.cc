// SPDX-License-Identifier: Apache-2.0
// Answers of the agent that are not as long as libk5crypto's would be: none is taken, and nothing
// is written where the caller made no room.
#include "preload_fixture.h"

namespace tkdc::test {
namespace {

constexpr std::size_t kOverhead = TKDC_WIRE_SEAL_OVERHEAD_BYTES;
constexpr std::size_t kChecksum = TKDC_WIRE_CHECKSUM_BYTES;
constexpr krb5_keyusage kUsage = 2;
constexpr char kCanary = 0x11;

class Replies : public Preload {
 protected:
  krb5_error_code open(std::size_t ciphertext_bytes, Answer answer) {
    agent().answer_with(std::move(answer));
    krb5_enc_data sealed{};
    sealed.enctype = 18;
    sealed.ciphertext = {KV5M_DATA, static_cast<unsigned>(ciphertext_bytes), text};
    std::fill(std::begin(room), std::end(room), kCanary);
    plain = {KV5M_DATA, static_cast<unsigned>(ciphertext_bytes - kOverhead), room};
    return krb5_c_decrypt(context, &key.block, kUsage, nullptr, &sealed, &plain);
  }

  krb5_error_code open_scattered(std::size_t data_bytes, Answer answer) {
    agent().answer_with(std::move(answer));
    std::fill(std::begin(room), std::end(room), kCanary);
    krb5_crypto_iov iov[3] = {};
    iov[0] = {KRB5_CRYPTO_TYPE_HEADER, {KV5M_DATA, 16, text}};
    iov[1] = {KRB5_CRYPTO_TYPE_DATA, {KV5M_DATA, static_cast<unsigned>(data_bytes), room}};
    iov[2] = {KRB5_CRYPTO_TYPE_TRAILER, {KV5M_DATA, 12, text + 16}};
    return krb5_c_decrypt_iov(context, &key.block, kUsage, nullptr, iov, 3);
  }

  krb5_error_code seal(std::size_t plaintext_bytes, Answer answer) {
    agent().answer_with(std::move(answer));
    const krb5_data input{KV5M_DATA, static_cast<unsigned>(plaintext_bytes), text};
    krb5_enc_data sealed{};
    sealed.ciphertext = {KV5M_DATA, static_cast<unsigned>(plaintext_bytes + kOverhead), room};
    std::fill(std::begin(room), std::end(room), kCanary);
    return krb5_c_encrypt(context, &key.block, kUsage, nullptr, &input, &sealed);
  }

  krb5_error_code mac(Answer answer) {
    agent().answer_with(std::move(answer));
    const krb5_data input{KV5M_DATA, 16, text};
    krb5_checksum sum{};
    const krb5_error_code code = krb5_c_make_checksum(context, 0, &key.block, kUsage, &input, &sum);
    EXPECT_EQ(sum.contents != nullptr, code == 0);
    krb5_free_checksum_contents(context, &sum);
    return code;
  }

  krb5_error_code verify(Answer answer, krb5_boolean* valid) {
    agent().answer_with(std::move(answer));
    const krb5_data input{KV5M_DATA, 16, text};
    krb5_checksum sum{KV5M_CHECKSUM, CKSUMTYPE_HMAC_SHA1_96_AES256, kChecksum,
                      reinterpret_cast<krb5_octet*>(room)};
    *valid = TRUE;
    return krb5_c_verify_checksum(context, &key.block, kUsage, &input, &sum, valid);
  }

  bool untouched() const {
    return std::all_of(std::begin(room), std::end(room), [](char c) { return c == kCanary; });
  }

  void expect_malformed(krb5_error_code code) {
    EXPECT_EQ(code, KRB5KDC_ERR_SVC_UNAVAILABLE);
    EXPECT_NE(message(code).find("malformed answer"), std::string::npos) << message(code);
    EXPECT_EQ(agent().asked().size(), 1u);
  }

  Key key{handle()};
  char text[256] = "octets";
  char room[512] = {};
  krb5_data plain{};
};

// What is wrong once is wrong with that operation, not with all that this process does afterwards.
TEST_F(Replies, AMalformedAnswerOutsideARequestSpoilsNoLaterOne) {
  const tkdc_preload_config kdc{agent().path().c_str(), true, 5'000};
  ASSERT_EQ(tkdc_preload_api.configure(context, &kdc), 0);
  expect_malformed(open(kOverhead + 16, {TKDC_STATUS_OK, bytes_of(15)}));
  EXPECT_EQ(open(kOverhead + 16, {TKDC_STATUS_OK, bytes_of(16)}), 0);
  EXPECT_EQ(agent().asked().size(), 1u) << "it was asked again";
}

TEST_F(Replies, AnEmptyPlaintextIsEmpty) {
  ASSERT_EQ(open(kOverhead, {TKDC_STATUS_OK, bytes_of(0)}), 0);
  EXPECT_EQ(plain.length, 0u);
  for (const std::size_t more : {1u, 16u, 400u}) {
    expect_malformed(open(kOverhead, {TKDC_STATUS_OK, bytes_of(more)}));
    EXPECT_TRUE(untouched()) << more << " octets where there is room for none";
  }
  ASSERT_EQ(open_scattered(0, {TKDC_STATUS_OK, bytes_of(0)}), 0);
  expect_malformed(open_scattered(0, {TKDC_STATUS_OK, bytes_of(16)}));
}

TEST_F(Replies, APlaintextHasItsCiphertextsLength) {
  ASSERT_EQ(open(kOverhead + 16, {TKDC_STATUS_OK, bytes_of(16)}), 0);
  EXPECT_EQ(plain.length, 16u);
  ASSERT_EQ(open_scattered(16, {TKDC_STATUS_OK, bytes_of(16)}), 0);
  for (const std::size_t other : {0u, 15u, 17u, 44u}) {
    expect_malformed(open(kOverhead + 16, {TKDC_STATUS_OK, bytes_of(other)}));
    EXPECT_TRUE(untouched()) << other;
    expect_malformed(open_scattered(16, {TKDC_STATUS_OK, bytes_of(other)}));
    EXPECT_TRUE(untouched()) << other;
  }
}

TEST_F(Replies, ACiphertextHasItsPlaintextsLength) {
  for (const std::size_t plaintext : {0u, 16u}) {
    const std::size_t good = plaintext + kOverhead;
    ASSERT_EQ(seal(plaintext, {TKDC_STATUS_OK, bytes_of(good)}), 0);
    for (const std::size_t other : {std::size_t{0}, plaintext, good - 1, good + 1}) {
      expect_malformed(seal(plaintext, {TKDC_STATUS_OK, bytes_of(other)}));
      EXPECT_TRUE(untouched()) << other;
    }
  }
}

// krb5kdc clears as many octets of what it has not got.
TEST_F(Replies, WhatWasNotEncryptedHasNoLength) {
  const krb5_data input{KV5M_DATA, 16, text};
  const Key odd{Octets(31)}, shared{handle()};
  agent().answer_with({TKDC_STATUS_DENIED, {}});
  for (const Key* one : {&odd, &shared}) {
    krb5_enc_data sealed{};
    sealed.ciphertext = {KV5M_DATA, 16 + kOverhead, room};
    EXPECT_NE(krb5_c_encrypt(context, &one->block, kUsage, nullptr, &input, &sealed), 0);
    EXPECT_EQ(sealed.ciphertext.length, 0u);
    krb5_key opaque = nullptr;
    ASSERT_EQ(krb5_k_create_key(context, &one->block, &opaque), 0);
    sealed.ciphertext.length = 16 + kOverhead;
    EXPECT_NE(krb5_k_encrypt(context, opaque, kUsage, nullptr, &input, &sealed), 0);
    EXPECT_EQ(sealed.ciphertext.length, 0u);
    krb5_k_free_key(context, opaque);
  }
}

TEST_F(Replies, AChecksumHasItsEnctypesLength) {
  ASSERT_EQ(mac({TKDC_STATUS_OK, bytes_of(kChecksum)}), 0);
  for (const std::size_t other : {std::size_t{0}, kChecksum - 1, kChecksum + 1})
    expect_malformed(mac({TKDC_STATUS_OK, bytes_of(other)}));
}

TEST_F(Replies, ABodyIsOneFieldAndNothingElse) {
  expect_malformed(mac({TKDC_STATUS_OK, {}}));
  Octets cut = bytes_of(kChecksum);
  cut.pop_back();
  expect_malformed(mac({TKDC_STATUS_OK, cut}));
  Octets trailed = bytes_of(kChecksum);
  trailed.push_back(0);
  expect_malformed(mac({TKDC_STATUS_OK, trailed}));
  expect_malformed(open(kOverhead, {TKDC_STATUS_OK, {}}));
}

// Only the status says that a checksum holds: what comes with a body answers something else.
TEST_F(Replies, AVerificationSaysNothingMore) {
  krb5_boolean valid = FALSE;
  ASSERT_EQ(verify({TKDC_STATUS_OK, {}}, &valid), 0);
  EXPECT_TRUE(valid);
  ASSERT_EQ(verify({TKDC_STATUS_INTEGRITY, {}}, &valid), 0);
  EXPECT_FALSE(valid);
  for (const std::size_t more : {std::size_t{0}, kChecksum}) {
    expect_malformed(verify({TKDC_STATUS_OK, bytes_of(more)}, &valid));
    EXPECT_FALSE(valid);
  }
}

}  // namespace
}  // namespace tkdc::test
