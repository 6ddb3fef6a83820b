// SPDX-License-Identifier: Apache-2.0
// Memory that stands idle on a device is given back before an allocation is given up.
#include <gtest/gtest.h>

#include "cuda/device/device.h"
#include "cuda/device/host_driver.h"

namespace tkdc::cuda {
namespace {

constexpr std::size_t kBlocks = 4096;

struct Limited {
  explicit Limited(std::uint64_t octets)
      : driver(new HostDriver(HostDriver::kNever, octets)),
        device(std::unique_ptr<Driver>(driver)) {}
  HostDriver* driver;
  Device device;
};

std::uint64_t octets_of_slot() {
  Limited one(HostDriver::kNever);
  auto slot = one.device.slots.acquire(kBlocks);
  EXPECT_TRUE(slot.ok());
  return one.driver->octets_held();
}

TEST(DevicePools, IdleMemoryOfAnotherSizeOrKindMakesRoom) {
  const std::uint64_t octets = octets_of_slot();
  Limited one(octets + octets / 4);
  auto slot = one.device.slots.acquire(kBlocks);
  ASSERT_TRUE(slot.ok());
  EXPECT_FALSE(one.device.slots.acquire(kBlocks / 2).ok()) << "none of it is idle";
  one.device.slots.give_back(std::move(*slot));
  EXPECT_EQ(one.driver->octets_held(), octets) << "kept";
  auto smaller = one.device.slots.acquire(kBlocks / 2);
  ASSERT_TRUE(smaller.ok()) << smaller.error().message;
  EXPECT_LT(one.driver->octets_held(), octets);
  one.device.slots.give_back(std::move(*smaller));
  auto columns = one.device.bit_slots.acquire(64);
  ASSERT_TRUE(columns.ok());
  one.device.bit_slots.give_back(std::move(*columns));
  auto again = one.device.slots.acquire(kBlocks);
  ASSERT_TRUE(again.ok()) << "both other kinds are gone";
  EXPECT_EQ(one.driver->octets_held(), octets);
}

template <class Pool>
class Pools : public testing::Test {};
using PoolTypes = testing::Types<SlotPool, BitSlotPool>;
TYPED_TEST_SUITE(Pools, PoolTypes);

TYPED_TEST(Pools, FreeASlotThatCannotBeWiped) {
  HostDriver driver(4);  // two allocations, a queue, and the wipe's step
  TypeParam pool(driver);
  auto slot = pool.acquire(1);
  ASSERT_TRUE(slot.ok());
  EXPECT_GT(driver.octets_held(), 0u);
  pool.give_back(std::move(*slot));
  EXPECT_EQ(driver.octets_held(), 0u);
}

}  // namespace
}  // namespace tkdc::cuda
