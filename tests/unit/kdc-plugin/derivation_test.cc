// SPDX-License-Identifier: Apache-2.0
// Derived handles: what is written is read, nothing else is, and libk5crypto takes
// none for a key.
#include "derivation.h"
#include "sample_key.h"

#include <gtest/gtest.h>
#include <krb5.h>

#include <cstring>
#include <string>
#include <vector>

namespace {

tkdc_derivation some_derivation(std::uint8_t kind, std::uint32_t enctype, const char* pepper) {
  tkdc_derivation by{};
  by.kind = kind;
  by.enctype = enctype;
  by.known_half_bytes = kind == TKDC_DERIVE_CF2 ? (enctype == 17 || enctype == 19 ? 16 : 32) : 0;
  std::memset(by.known_half, 0x44, by.known_half_bytes);
  by.pepper_bytes = std::strlen(pepper);
  std::memcpy(by.pepper, pepper, by.pepper_bytes);
  return by;
}

std::vector<std::uint8_t> encoded(const tkdc_derivation& by) {
  std::vector<std::uint8_t> out(TKDC_DERIVED_HANDLE_MAX_BYTES);
  const tkdc_wire_key key = sample_key();
  out.resize(tkdc_derived_encode(out.data(), &key, &by));
  return out;
}

bool reads(const std::vector<std::uint8_t>& octets) {
  tkdc_wire_key key;
  tkdc_derivation by;
  return tkdc_derived_decode(octets.data(), octets.size(), &key, &by);
}

TEST(DerivedHandle, IsReadAsWritten) {
  for (std::uint32_t enctype : {17u, 18u, 19u, 20u})
    for (std::uint8_t kind : {TKDC_DERIVE_CF2, TKDC_DERIVE_PRFPLUS})
      for (const char* pepper : {"x", "replykey", "challengelongterm"}) {
        const tkdc_derivation by = some_derivation(kind, enctype, pepper);
        const auto octets = encoded(by);
        EXPECT_EQ(octets.size(), TKDC_HANDLE_BYTES + by.pepper_bytes);
        tkdc_wire_key key;
        tkdc_derivation read;
        ASSERT_TRUE(tkdc_derived_decode(octets.data(), octets.size(), &key, &read));
        EXPECT_EQ(key.kvno, 7u);
        EXPECT_EQ(key.principal[31], 0x33);
        EXPECT_EQ(read.kind, kind);
        EXPECT_EQ(read.enctype, enctype);
        EXPECT_EQ(read.known_half_bytes, by.known_half_bytes);
        EXPECT_EQ(std::memcmp(read.known_half, by.known_half, sizeof by.known_half), 0);
        EXPECT_EQ(std::string(read.pepper, read.pepper + read.pepper_bytes), pepper);
      }
}

TEST(DerivedHandle, UnsoundRecipesAreNotWritten) {
  tkdc_derivation by = some_derivation(TKDC_DERIVE_CF2, 18, "replykey");
  by.known_half_bytes = 16;
  EXPECT_TRUE(encoded(by).empty());
  by = some_derivation(TKDC_DERIVE_PRFPLUS, 18, "COOKIE");
  by.known_half_bytes = 32;
  EXPECT_TRUE(encoded(by).empty());
  EXPECT_TRUE(encoded(some_derivation(TKDC_DERIVE_CF2, 23, "replykey")).empty());
  EXPECT_TRUE(encoded(some_derivation(TKDC_DERIVE_NONE, 18, "replykey")).empty());
  EXPECT_TRUE(encoded(some_derivation(3, 18, "replykey")).empty());
  EXPECT_TRUE(encoded(some_derivation(TKDC_DERIVE_CF2, 18, "")).empty());
  by = some_derivation(TKDC_DERIVE_CF2, 18, "replykey");
  by.pepper_bytes = TKDC_DERIVED_PEPPER_MAX_BYTES + 1;
  EXPECT_TRUE(encoded(by).empty());
}

TEST(DerivedHandle, NothingElseIsRead) {
  const auto octets = encoded(some_derivation(TKDC_DERIVE_CF2, 17, "replykey"));
  ASSERT_TRUE(reads(octets));
  // Magic, kind, enctype, the known half's length, and zeros behind the known half.
  for (std::size_t at : {0u, 7u, 80u, 81u, 84u, 85u, 86u + 16u, 86u + 31u, 118u, 159u}) {
    auto changed = octets;
    changed[at] ^= 0x80;
    EXPECT_FALSE(reads(changed)) << at;
  }
  EXPECT_FALSE(reads({octets.begin(), octets.begin() + TKDC_HANDLE_BYTES}));
  EXPECT_FALSE(reads({}));
  auto longer = octets;
  longer.resize(TKDC_DERIVED_HANDLE_MAX_BYTES + 1, 'x');
  EXPECT_FALSE(reads(longer));
  tkdc_wire_key key;
  EXPECT_FALSE(tkdc_handle_decode(octets.data(), octets.size(), &key));
}

TEST(DerivedHandle, StockCryptoTakesNoneForAKey) {
  krb5_context context;
  ASSERT_EQ(krb5_init_context(&context), 0);
  auto octets = encoded(some_derivation(TKDC_DERIVE_CF2, 18, "r"));  // the shortest
  for (krb5_enctype enctype : {17, 18, 19, 20}) {
    krb5_keyblock block{};
    block.enctype = enctype;
    block.length = static_cast<unsigned>(octets.size());
    block.contents = octets.data();
    char clear[16] = {}, sealed[80], prf[64];
    krb5_data in{}, out{};
    in.data = clear;
    in.length = sizeof clear;
    krb5_enc_data enc{};
    enc.ciphertext.data = sealed;
    enc.ciphertext.length = sizeof sealed;
    EXPECT_NE(krb5_c_encrypt(context, &block, 3, nullptr, &in, &enc), 0) << enctype;
    out.data = prf;
    out.length = enctype == 19 ? 32 : enctype == 20 ? 48 : 16;
    EXPECT_NE(krb5_c_prf(context, &block, &in, &out), 0) << enctype;
    krb5_checksum sum{};
    EXPECT_NE(krb5_c_make_checksum(context, 0, &block, 3, &in, &sum), 0) << enctype;
  }
  krb5_free_context(context);
}

}  // namespace
