// SPDX-License-Identifier: Apache-2.0
#include "base/hex.h"

#include <gtest/gtest.h>

#include <array>

namespace tkdc {
namespace {

TEST(Hex, RoundTripAndRefusals) {
  std::array<std::uint8_t, 4> out{};
  ASSERT_TRUE(from_hex("00ffA07e", out));
  EXPECT_EQ(to_hex(out), "00ffa07e");
  for (const char* text : {"", "00ffa0", "00ffa07", "00ffa07e00", "00ffa07e0", "00ffa07g",
                           "00 fa07e", "00ffa07e\n", " 0ffa07e", "0x00ffa0", "00:fa07e"})
    EXPECT_FALSE(from_hex(text, out)) << text;
}

TEST(Hex, ArraysOfCAndNothing) {
  std::uint8_t out[2] = {};
  ASSERT_TRUE(from_hex("beef", out));
  EXPECT_EQ(to_hex(out), "beef");
  EXPECT_FALSE(from_hex("beefed", out)) << "no octet behind the array is written";
  EXPECT_EQ(to_hex({}), "");
  EXPECT_TRUE(from_hex("", {}));
  EXPECT_FALSE(from_hex("00", {}));
}

TEST(Hex, EveryOctet) {
  for (unsigned value = 0; value < 256; ++value) {
    const auto octet = static_cast<std::uint8_t>(value);
    std::array<std::uint8_t, 1> back{};
    ASSERT_TRUE(from_hex(to_hex({&octet, 1}), back)) << value;
    EXPECT_EQ(back[0], octet);
  }
}

}  // namespace
}  // namespace tkdc
