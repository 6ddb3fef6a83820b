// SPDX-License-Identifier: Apache-2.0
#include "storm/delay_line.h"

#include <gtest/gtest.h>

namespace tkdc::storm {
namespace {

const Bytes kOne = {1}, kTwo = {2, 2}, kThree = {3, 3, 3};

TEST(DelayLine, ArrivesAfterItsDelayInOrder) {
  DelayLine line(100);
  line.set_delay(50);
  EXPECT_FALSE(line.next());
  EXPECT_TRUE(line.push(1000, 2, kTwo));
  EXPECT_TRUE(line.push(1010, 0, kOne));
  EXPECT_EQ(line.next(), 1050);
  EXPECT_FALSE(line.pop(1049));
  auto first = line.pop(1055);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->node, 2U);
  EXPECT_EQ(first->octets, kTwo);
  EXPECT_FALSE(line.pop(1055));
  EXPECT_EQ(line.pop(1060)->octets, kOne);
  EXPECT_FALSE(line.next());
}

TEST(DelayLine, AShorterDelayLetsNothingOvertake) {
  DelayLine line(100);
  line.set_delay(50);
  line.push(1000, 0, kOne);
  line.set_delay(0);
  line.push(1001, 0, kTwo);
  EXPECT_FALSE(line.pop(1049));
  EXPECT_EQ(line.pop(1050)->octets, kOne);
  EXPECT_EQ(line.pop(1050)->octets, kTwo);
}

TEST(DelayLine, ItsMemoryIsBounded) {
  DelayLine line(5);
  line.set_delay(10);
  EXPECT_TRUE(line.push(0, 0, kTwo));
  EXPECT_TRUE(line.push(0, 0, kThree));
  EXPECT_FALSE(line.push(0, 0, kOne));
  EXPECT_EQ(line.lost(), 1U);
  EXPECT_EQ(line.pop(10)->octets, kTwo);
  EXPECT_TRUE(line.push(10, 0, kOne)) << "there is room again";
  EXPECT_EQ(line.pop(20)->octets, kThree);
  EXPECT_EQ(line.pop(20)->octets, kOne);
}

TEST(Wan, FindsTheNodeOfAPacketAndOfNothingElse) {
  Bytes packet(40, 0);
  packet[0] = 0x45;
  packet[16] = 10, packet[17] = 99, packet[18] = 0, packet[19] = 3;
  EXPECT_EQ(wan_destination(packet, 4), 2U);
  EXPECT_EQ(wan_destination(packet, 3), 2U);
  EXPECT_FALSE(wan_destination(packet, 2));
  auto with = [&](std::size_t at, std::uint8_t value) {
    Bytes changed = packet;
    changed[at] = value;
    return wan_destination(changed, 4);
  };
  EXPECT_FALSE(with(0, 0x65)) << "IPv6";
  EXPECT_FALSE(with(16, 11));
  EXPECT_FALSE(with(18, 1));
  EXPECT_FALSE(with(19, 0));
  EXPECT_FALSE(with(19, 255));
  EXPECT_FALSE(wan_destination(ByteSpan(packet).first(19), 4));
  EXPECT_FALSE(wan_destination({}, 4));
}

}  // namespace
}  // namespace tkdc::storm
