// SPDX-License-Identifier: Apache-2.0
// The keys that protocols of one lane draw from.
#include "protocol/offer.h"

#include <gtest/gtest.h>
#include <sodium.h>

#include <algorithm>

namespace tkdc {
namespace {

TEST(ProtocolKeys, AreOneProtocolsAloneAndTheSameAtBothHolders) {
  ASSERT_GE(sodium_init(), 0);
  PairwiseKeys here, there;
  std::fill_n(here.mine.data(), 32, std::uint8_t{1});
  std::fill_n(here.next.data(), 32, std::uint8_t{2});
  std::fill_n(there.mine.data(), 32, std::uint8_t{2});
  std::fill_n(there.next.data(), 32, std::uint8_t{3});
  here.zero_generator = ZeroGenerator::kChaCha20;
  const auto same = [](const SecretBuffer& a, const SecretBuffer& b) {
    return std::equal(a.data(), a.data() + a.size(), b.data(), b.data() + b.size());
  };
  const PairwiseKeys one = keys_for("rep3", here), two = keys_for("rep4", here);
  EXPECT_TRUE(same(one.next, keys_for("rep3", there).mine));
  EXPECT_FALSE(same(one.mine, two.mine) || same(one.next, two.next));
  EXPECT_FALSE(same(one.mine, here.mine) || same(one.mine, one.next));
  EXPECT_EQ(one.zero_generator, ZeroGenerator::kChaCha20);
}

}  // namespace
}  // namespace tkdc
