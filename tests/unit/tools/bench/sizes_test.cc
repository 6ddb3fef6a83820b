// SPDX-License-Identifier: Apache-2.0
// Cohort sizes as tkdc bench is given them.
#include "tools/bench/sizes.h"

#include <gtest/gtest.h>

namespace tkdc::bench {
namespace {

using Sizes = std::vector<std::size_t>;

TEST(BenchSizes, AreNumbersPowersListsAndRanges) {
  for (const auto& [text, sizes] : std::vector<std::pair<std::string, Sizes>>{
           {"4096", {4096}},
           {"2^22", {1u << 22}},
           {"16,2^10,17", {16, 1024, 17}},
           {"2^10..2^13", {1024, 2048, 4096, 8192}},
           {"2^10..2^22x4", {1u << 10, 1u << 12, 1u << 14, 1u << 16, 1u << 18, 1u << 20, 1u << 22}},
           {"100..350", {100, 200}},
           {"64..64,32", {64, 32}}}) {
    auto parsed = parse_sizes(text, 16, 1u << 22);
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    EXPECT_EQ(*parsed, sizes) << text;
  }
}

TEST(BenchSizes, RefuseWhatIsNone) {
  for (const char* text :
       {"", "x", "-1", "1024,", ",1024", "2^", "2^99", "2^10..", "..1024", "1024..512", "0..64",
        "16..64x1", "16..64x", "16..64x2000", "1 024", "99999999999999999999999", "16x2"}) {
    auto parsed = parse_sizes(text, 16, 1u << 22);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_NE(parsed.error().message.find("no list of sizes"), std::string::npos) << text;
  }
  for (const char* text : {"15", "8..32", "4194305", "2^10..2^23", "2^40", "2^10..2^40"}) {
    auto parsed = parse_sizes(text, 16, 1u << 22);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_NE(parsed.error().message.find("16 to 4194304"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tkdc::bench
