// SPDX-License-Identifier: Apache-2.0
// What an agent says of a derived key is what the servers read.
#include "service/wire/recipe.h"

#include <gtest/gtest.h>

namespace tkdc {
namespace {

const Derivation kCookie{TKDC_DERIVE_PRFPLUS, 20, "COOKIE alice"};

TEST(Recipe, IsReadAsItWasWritten) {
  for (const Derivation& by : {kCookie, Derivation{TKDC_DERIVE_CF2, 17, "replykey"},
                               Derivation{TKDC_DERIVE_CF2, 18, std::string(1, '\0')}}) {
    const auto read = decode_derivation(encode_derivation(by));
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, by);
  }
  EXPECT_EQ(encode_derivation({TKDC_DERIVE_CF2, 0x01020304, "ab"}),
            (Bytes{TKDC_DERIVE_CF2, 1, 2, 3, 4, 'a', 'b'}));
}

TEST(Recipe, WhatIsNoneIsRefused) {
  Derivation kind = kCookie, enctype = kCookie, empty = kCookie, longer = kCookie;
  kind.kind = TKDC_DERIVE_PRFPLUS + 1;
  enctype.enctype = 23;
  empty.pepper.clear();
  longer.pepper.assign(TKDC_DERIVED_PEPPER_MAX_BYTES + 1, 'x');
  for (const Derivation& by : {kind, enctype, empty, longer})
    EXPECT_FALSE(decode_derivation(encode_derivation(by)));
  longer.pepper.pop_back();
  EXPECT_TRUE(decode_derivation(encode_derivation(longer)));
  const Bytes whole = encode_derivation(kCookie);
  for (std::size_t cut = 0; cut < 6; ++cut)
    EXPECT_FALSE(decode_derivation(ByteSpan(whole).first(cut))) << cut;
}

TEST(Recipe, OnlyACombinationHasAKnownHalf) {
  EXPECT_EQ(known_half_bytes({TKDC_DERIVE_CF2, 17, "p"}), 16u);
  EXPECT_EQ(known_half_bytes({TKDC_DERIVE_CF2, 18, "p"}), 32u);
  EXPECT_EQ(known_half_bytes({TKDC_DERIVE_CF2, 23, "p"}), 0u);
  EXPECT_EQ(known_half_bytes(kCookie), 0u);
}

}  // namespace
}  // namespace tkdc
