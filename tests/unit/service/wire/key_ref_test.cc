// SPDX-License-Identifier: Apache-2.0
// A key's name has the same octets from C and from C++.
#include "service/wire/key_ref.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace tkdc {
namespace {

// No two octets are alike.
Bytes all_different() {
  Bytes octets(TKDC_WIRE_KEY_BYTES);
  std::iota(octets.begin(), octets.end(), std::uint8_t{1});
  return octets;
}

TEST(KeyRef, BothLanguagesWriteTheSameOctets) {
  const Bytes octets = all_different();
  Reader reader(octets);
  KeyRef key;
  get_key(reader, key);
  ASSERT_TRUE(reader.complete());
  Bytes from_cpp;
  Writer writer(from_cpp);
  put_key(writer, key);
  EXPECT_EQ(from_cpp, octets);

  tkdc_wire_key wire{};
  tkdc_wire_get_key(octets.data(), &wire);
  Bytes from_c(TKDC_WIRE_KEY_BYTES);
  tkdc_wire_put_key(from_c.data(), &wire);
  EXPECT_EQ(from_c, octets);
}

TEST(KeyRef, BothLanguagesReadTheSameMembers) {
  const Bytes octets = all_different();
  Reader reader(octets);
  KeyRef key;
  get_key(reader, key);
  tkdc_wire_key wire{};
  tkdc_wire_get_key(octets.data(), &wire);
  EXPECT_TRUE(std::ranges::equal(key.id, wire.key_id));
  EXPECT_TRUE(std::ranges::equal(key.installation, wire.installation));
  EXPECT_TRUE(std::ranges::equal(key.principal, wire.principal));
  EXPECT_EQ(key.kvno, 0x41424344u);
  EXPECT_EQ(key.enctype, 0x45464748u);
  EXPECT_EQ(wire.kvno, key.kvno);
  EXPECT_EQ(wire.enctype, key.enctype);
}

TEST(KeyRef, ATruncatedNameFails) {
  Bytes octets = all_different();
  octets.pop_back();
  Reader reader(octets);
  KeyRef key;
  get_key(reader, key);
  EXPECT_TRUE(reader.failed());
}

}  // namespace
}  // namespace tkdc
