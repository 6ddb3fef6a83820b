// SPDX-License-Identifier: Apache-2.0
#include "service/wire/key_list.h"

#include <gtest/gtest.h>

namespace tkdc {
namespace {

ListedKey listed(std::uint8_t number, const std::string& principal) {
  ListedKey key;
  key.id.fill(number);
  key.kvno = number;
  key.enctype = 18;
  key.principal = principal;
  return key;
}

TEST(KeyList, IsReadAsItWasWritten) {
  const KeyListPage page{{listed(1, "alice@R"), listed(2, "krbtgt/R@R")}, true};
  const Bytes octets = encode(page);
  auto read = decode_key_list(octets);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->keys, page.keys);
  EXPECT_TRUE(read->more);
  EXPECT_TRUE(decode_key_list(encode(KeyListPage{})).ok());
}

TEST(KeyList, WhatIsNoPageIsRefused) {
  const Bytes good = encode(KeyListPage{{listed(1, "alice@R"), listed(2, "bob@R")}, false});
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_EQ(decode_key_list(ByteSpan(good).first(length)).ok(), length == 1 || length == 36)
        << length;
  EXPECT_FALSE(decode_key_list(encode(KeyListPage{{listed(2, "a"), listed(1, "b")}, false})).ok());
  EXPECT_FALSE(decode_key_list(encode(KeyListPage{{listed(1, "a"), listed(1, "a")}, false})).ok());
  EXPECT_FALSE(decode_key_list(encode(KeyListPage{{}, true})).ok()) << "it would have no end";
  EXPECT_FALSE(decode_key_list(Bytes{2}).ok());
  EXPECT_FALSE(decode_key_list(Bytes(kMaxKeyListBytes + 1)).ok());
}

TEST(KeyList, DroppedKeysSaySinceWhen) {
  const DroppedListPage page{{{listed(1, "alice@R"), 5}, {listed(2, "bob@R"), 6}}, true};
  const Bytes octets = encode(page);
  auto read = decode_dropped_list(octets);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->keys, page.keys);
  EXPECT_TRUE(read->more);
  for (std::size_t length = 1; length < octets.size(); ++length)
    EXPECT_EQ(decode_dropped_list(ByteSpan(octets).first(length)).ok(), length == 44) << length;
  EXPECT_FALSE(decode_dropped_list(
                   encode(DroppedListPage{{{listed(2, "a"), 5}, {listed(1, "b"), 5}}, false}))
                   .ok());
}

}  // namespace
}  // namespace tkdc
