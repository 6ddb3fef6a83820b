// SPDX-License-Identifier: Apache-2.0
// Handles: their encoding, and the safety catch: libk5crypto without the
// preload library refuses one for every enctype and at every entry point.
#include <gtest/gtest.h>
#include <krb5.h>

#include <cstring>
#include <vector>

#include "handle.h"

namespace {

tkdc_wire_key some_key() {
  tkdc_wire_key key{};
  std::memset(key.key_id, 0x5a, sizeof key.key_id);
  std::memset(key.principal, 0x77, sizeof key.principal);
  key.kvno = 3;
  key.enctype = 18;
  return key;
}

TEST(Handle, RoundTrip) {
  const tkdc_wire_key key = some_key();
  tkdc_wire_key back{};
  uint8_t octets[TKDC_HANDLE_BYTES];
  tkdc_handle_encode(octets, &key);
  ASSERT_TRUE(tkdc_handle_decode(octets, sizeof octets, &back));
  EXPECT_EQ(std::memcmp(&key, &back, sizeof key), 0);
  EXPECT_TRUE(tkdc_key_is_bound(&back));
  EXPECT_FALSE(tkdc_handle_decode(octets, sizeof octets - 1, &back));
  octets[TKDC_HANDLE_BYTES - 1] = 1;
  EXPECT_FALSE(tkdc_handle_decode(octets, sizeof octets, &back));
  octets[TKDC_HANDLE_BYTES - 1] = 0;
  octets[7]++;
  EXPECT_FALSE(tkdc_handle_decode(octets, sizeof octets, &back));
  tkdc_wire_key unbound{};
  EXPECT_FALSE(tkdc_key_is_bound(&unbound));
}

class StockCrypto : public testing::TestWithParam<int> {
 protected:
  StockCrypto() {
    krb5_init_context(&context);
    const tkdc_wire_key id = some_key();
    tkdc_handle_encode(octets, &id);
    block.magic = KV5M_KEYBLOCK;
    block.enctype = GetParam();
    block.length = sizeof octets;
    block.contents = octets;
    input = {KV5M_DATA, 16, text};
  }
  ~StockCrypto() override { krb5_free_context(context); }

  krb5_context context = nullptr;
  uint8_t octets[TKDC_HANDLE_BYTES];
  krb5_keyblock block{};
  char text[256] = "sixteen octets..";
  char room[512] = {};
  krb5_data input{};
};

TEST_P(StockCrypto, RefusesToEncrypt) {
  krb5_enc_data sealed{};
  sealed.ciphertext = {KV5M_DATA, sizeof room, room};
  EXPECT_NE(krb5_c_encrypt(context, &block, 2, nullptr, &input, &sealed), 0);
  krb5_crypto_iov iov[4] = {};
  iov[0] = {KRB5_CRYPTO_TYPE_HEADER, {KV5M_DATA, 64, room}};
  iov[1] = {KRB5_CRYPTO_TYPE_DATA, {KV5M_DATA, 16, text}};
  iov[2] = {KRB5_CRYPTO_TYPE_PADDING, {KV5M_DATA, 64, room + 64}};
  iov[3] = {KRB5_CRYPTO_TYPE_TRAILER, {KV5M_DATA, 64, room + 128}};
  EXPECT_NE(krb5_c_encrypt_iov(context, &block, 2, nullptr, iov, 4), 0);
  krb5_key key = nullptr;
  if (krb5_k_create_key(context, &block, &key) == 0) {
    sealed.ciphertext = {KV5M_DATA, sizeof room, room};
    EXPECT_NE(krb5_k_encrypt(context, key, 2, nullptr, &input, &sealed), 0);
    EXPECT_NE(krb5_k_encrypt_iov(context, key, 2, nullptr, iov, 4), 0);
    krb5_k_free_key(context, key);
  }
}

TEST_P(StockCrypto, RefusesToDecrypt) {
  krb5_enc_data sealed{};
  sealed.enctype = GetParam();
  sealed.ciphertext = {KV5M_DATA, 64, text};
  krb5_data plain{KV5M_DATA, sizeof room, room};
  const krb5_error_code code = krb5_c_decrypt(context, &block, 2, nullptr, &sealed, &plain);
  EXPECT_NE(code, 0);
  EXPECT_NE(code, KRB5KRB_AP_ERR_BAD_INTEGRITY);  // the key was not even tried
  krb5_key key = nullptr;
  if (krb5_k_create_key(context, &block, &key) == 0) {
    plain.length = sizeof room;
    EXPECT_NE(krb5_k_decrypt(context, key, 2, nullptr, &sealed, &plain), 0);
    krb5_k_free_key(context, key);
  }
}

TEST_P(StockCrypto, RefusesToSign) {
  krb5_checksum sum{};
  EXPECT_NE(krb5_c_make_checksum(context, 0, &block, 17, &input, &sum), 0);
  krb5_boolean valid = 1;
  uint8_t zeros[12] = {};
  for (const int type : {15, 16, 19, 20, -138}) {
    sum = {KV5M_CHECKSUM, type, sizeof zeros, zeros};
    valid = 0;
    EXPECT_TRUE(krb5_c_verify_checksum(context, &block, 17, &input, &sum, &valid) != 0 || !valid);
  }
}

TEST_P(StockCrypto, RefusesToDerive) {
  size_t len = 0;
  ASSERT_EQ(krb5_c_prf_length(context, GetParam(), &len), 0);
  krb5_data out{KV5M_DATA, static_cast<unsigned>(len), room};
  EXPECT_NE(krb5_c_prf(context, &block, &input, &out), 0);
  krb5_keyblock* derived = nullptr;
  EXPECT_NE(krb5_c_derive_prfplus(context, &block, &input, ENCTYPE_NULL, &derived), 0);
  EXPECT_NE(krb5_c_fx_cf2_simple(context, &block, "a", &block, "b", &derived), 0);
}

// RFC 8429's survivors, the deprecated ones and what a build may add.
std::vector<krb5_enctype> known_enctypes() {
  std::vector<krb5_enctype> known;
  for (krb5_enctype enctype = 1; enctype <= 30; ++enctype) {
    if (krb5_c_valid_enctype(enctype)) known.push_back(enctype);
  }
  return known;
}

INSTANTIATE_TEST_SUITE_P(AllEnctypes, StockCrypto, testing::ValuesIn(known_enctypes()));

}  // namespace
