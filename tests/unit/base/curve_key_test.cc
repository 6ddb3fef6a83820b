// SPDX-License-Identifier: Apache-2.0
#include "base/curve_key.h"

#include <gtest/gtest.h>

namespace tkdc {
namespace {

// The pair in libzmq's manual, zmq_curve(7).
constexpr char kPublicText[] = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID";
constexpr CurvePublicKey kPublic = {
    0xbb, 0x88, 0x47, 0x1d, 0x65, 0xe2, 0x65, 0x9b, 0x30, 0xc5, 0x5a, 0x53, 0x21, 0xce, 0xbb, 0x5a,
    0xab, 0x2b, 0x70, 0xa3, 0x98, 0x64, 0x5c, 0x26, 0xdc, 0xa2, 0xb2, 0xfc, 0xb4, 0x3f, 0xc5, 0x18};

SecretVector secret_of(const std::string& text) { return {text.begin(), text.end()}; }

TEST(CurveKey, DecodesTheManualsKey) {
  EXPECT_TRUE(is_curve_key(kPublicText));
  EXPECT_EQ(decode_curve_public(kPublicText), kPublic);
  CurvePublicKey out{};
  EXPECT_TRUE(decode_curve_secret(secret_of(kPublicText), out));
  EXPECT_EQ(out, kPublic);
}

TEST(CurveKey, RefusesWhatIsNotFortyCharactersOfZ85) {
  const std::string good = kPublicText;
  for (const std::string& text :
       {std::string(), good.substr(1), good.substr(0, 35), good + "x", good + good,
        std::string(40, '"'), std::string(45, '0'), good.substr(0, 5) + std::string(35, '\0')}) {
    CurvePublicKey out{};
    EXPECT_FALSE(is_curve_key(text)) << text;
    EXPECT_FALSE(decode_curve_public(text).has_value()) << text;
    EXPECT_FALSE(decode_curve_secret(secret_of(text), out)) << text;
  }
}

TEST(CurveKey, DrawsPairsThatDecode) {
  const auto one = new_curve_keys(), other = new_curve_keys();
  ASSERT_TRUE(one && other);
  EXPECT_TRUE(is_curve_key(one->public_text));
  CurvePublicKey secret{};
  EXPECT_TRUE(decode_curve_secret(one->secret_text, secret));
  EXPECT_NE(one->public_text, other->public_text);
  EXPECT_NE(one->secret_text, other->secret_text);
}

}  // namespace
}  // namespace tkdc
