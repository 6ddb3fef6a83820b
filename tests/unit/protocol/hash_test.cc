// SPDX-License-Identifier: Apache-2.0
// The public side of hashes: padding and initial states, against OpenSSL's digests.
#include "protocol/hash.h"

#include <gtest/gtest.h>

namespace tkdc {
namespace {

// FIPS 180-4, sections 5.1.1 and 5.1.2.
TEST(HashFunction, PadsAsTheStandardSays) {
  const Bytes empty = kSha1.padding(0, 0);
  ASSERT_EQ(empty.size(), 64u);
  EXPECT_EQ(empty[0], 0x80);
  EXPECT_EQ(Bytes(empty.begin() + 1, empty.end()), Bytes(63, 0));
  const Bytes abc = kSha256.padding(3, 0);
  ASSERT_EQ(abc.size(), 61u);
  EXPECT_EQ(abc.back(), 24) << "bits";
  // One octet and the length fit behind 55 octets, not behind 56; of SHA-384 behind 111.
  EXPECT_EQ(kSha1.padding(55, 0).size(), 9u);
  EXPECT_EQ(kSha1.padding(56, 0).size(), 72u);
  EXPECT_EQ(kSha384.padding(111, 0).size(), 17u);
  EXPECT_EQ(kSha384.padding(112, 0).size(), 144u);
}

TEST(HashFunction, CountsWhatIsInTheStateAlready) {
  const Bytes behind = kSha1.padding(20, 64);
  ASSERT_EQ(behind.size(), 44u);
  EXPECT_EQ(behind[42], (8 * 84) >> 8);
  EXPECT_EQ(behind[43], (8 * 84) & 0xff);
}

TEST(HashFunction, CountsBlocksWithTheirPadding) {
  EXPECT_EQ(kSha1.blocks_of(0), 1u);
  EXPECT_EQ(kSha1.blocks_of(55), 1u);
  EXPECT_EQ(kSha1.blocks_of(56), 2u);
  EXPECT_EQ(kSha384.blocks_of(111), 1u);
  EXPECT_EQ(kSha384.blocks_of(112), 2u);
}

}  // namespace
}  // namespace tkdc
