// SPDX-License-Identifier: Apache-2.0
#include "rep3/octet_map.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tkdc {
namespace {

TEST(OctetMap, OmegaHasOrderThree) {
  for (int x = 0; x < 256; ++x) {
    const auto octet = static_cast<std::uint8_t>(x);
    const std::uint8_t once = image_of(kTimesOmega, octet), twice = image_of(kTimesOmega, once);
    EXPECT_EQ(twice, image_of(kTimesOmegaSquare, octet));
    EXPECT_EQ(image_of(kTimesOmega, twice), octet);
    EXPECT_EQ(octet ^ once, twice);  // 1 + w = w^2
  }
}

TEST(OctetMap, EveryImplementationAddsTheImages) {
  std::mt19937_64 rng(1);
  for (std::size_t n : {0u, 1u, 7u, 8u, 63u, 64u, 65u, 200u, 1024u}) {
    OctetMap map;
    std::vector<std::uint8_t> a(n), b(n), out(n + 1, 0xee), portable(n + 1, 0xee), expected;
    for (auto* octets : {&a, &b})
      for (std::uint8_t& octet : *octets) octet = static_cast<std::uint8_t>(rng());
    for (std::uint8_t& octet : map) octet = static_cast<std::uint8_t>(rng());
    for (std::size_t k = 0; k < n; ++k)
      expected.push_back(static_cast<std::uint8_t>(a[k] ^ image_of(map, b[k])));
    expected.push_back(0xee);
    add_mapped(map, a.data(), b.data(), n, out.data());
    add_mapped_portable(map, a.data(), b.data(), n, portable.data());
    EXPECT_EQ(out, expected);
    EXPECT_EQ(portable, expected);
  }
}

}  // namespace
}  // namespace tkdc
