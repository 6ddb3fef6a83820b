// SPDX-License-Identifier: Apache-2.0
// The table of enctypes against libkrb5: what the plugin, the agent and the servers
// think of each is what a Kerberos program makes of it.
#include "enctype.h"

#include <gtest/gtest.h>
#include <krb5.h>

namespace {

TEST(Enctypes, TableAgreesWithLibkrb) {
  krb5_context context;
  ASSERT_EQ(krb5_init_context(&context), 0);
  for (std::uint32_t number = 0; number < 64; ++number) {
    const tkdc_enctype* entry = tkdc_enctype_of(number);
    EXPECT_EQ(entry != nullptr, number >= 17 && number <= 20) << number;
    if (entry == nullptr) continue;
    const auto enctype = static_cast<krb5_enctype>(number);
    std::size_t sealed = 0;
    unsigned header = 0;
    krb5_keyblock key{};
    krb5_checksum sum{};
    krb5_data nothing{};
    ASSERT_EQ(krb5_c_make_random_key(context, enctype, &key), 0);
    ASSERT_EQ(krb5_c_encrypt_length(context, enctype, 100, &sealed), 0);
    ASSERT_EQ(krb5_c_crypto_length(context, enctype, KRB5_CRYPTO_TYPE_HEADER, &header), 0);
    ASSERT_EQ(krb5_c_make_checksum(context, 0, &key, 1, &nothing, &sum), 0);
    EXPECT_EQ(entry->enctype, number);
    EXPECT_EQ(entry->key_bytes, key.length);
    EXPECT_EQ(entry->overhead_bytes, sealed - 100);
    EXPECT_EQ(unsigned{TKDC_SEAL_HEADER_BYTES}, header);
    EXPECT_EQ(entry->checksum_bytes, sum.length);
    EXPECT_EQ(entry->checksum_type, sum.checksum_type);
    krb5_free_checksum_contents(context, &sum);
    krb5_free_keyblock_contents(context, &key);
  }
  krb5_free_context(context);
}

// DES, triple DES, RC4, Camellia: none is served, nor a number nobody assigned.
TEST(Enctypes, LegacyOnesAreNotServed) {
  for (std::uint32_t number : {0u, 1u, 3u, 16u, 23u, 24u, 25u, 26u, 21u, 0x80000011u})
    EXPECT_EQ(tkdc_enctype_of(number), nullptr) << number;
}

}  // namespace
