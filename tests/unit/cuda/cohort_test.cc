// SPDX-License-Identifier: Apache-2.0
// Device cohorts, run by the host's loops over the same kernel bodies: a party with a device and
// two without one compute together, and what goes over the wire is that of three CPUs, bit by bit.
#include <algorithm>
#include <cstring>

#include "unit/cuda/host_device.h"

namespace tkdc::cuda {
namespace {

constexpr ZeroGenerator kChaCha20 = ZeroGenerator::kChaCha20;

class DeviceCohorts : public testing::TestWithParam<Setting> {};

TEST_P(DeviceCohorts, WireTraceIsThatOfThreeCpus) {
  const Outcome expected = run(GetParam(), nullptr, 0);
  for (int parties : {1, 3}) {
    HostDevice device(GetParam().representation);
    const Outcome got = run(GetParam(), &device.backend, parties);
    EXPECT_EQ(got.wire, expected.wire) << parties;
    EXPECT_EQ(got.result, expected.result) << parties;
    EXPECT_EQ(device.lost, "");
    EXPECT_GT(device.driver->operations(), 40u);  // it did run on the device
    EXPECT_FALSE(device.driver->misuse()) << *device.driver->misuse();
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, DeviceCohorts, testing::ValuesIn(settings()));

// Otherwise the settings above would say nothing of the generator.
TEST(DeviceCohort, TheGeneratorShowsOnTheWireAndNotInTheResult) {
  const Setting setting{Representation::kBytes, Security::kSemiHonest, 9};
  const Setting other{Representation::kBytes, Security::kSemiHonest, 9, 16, true, kChaCha20};
  HostDevice device(setting.representation);
  const Outcome aes = run(setting, &device.backend, 1), chacha = run(other, &device.backend, 1);
  EXPECT_NE(aes.wire, chacha.wire);
  EXPECT_EQ(aes.wire.size(), chacha.wire.size());
  EXPECT_EQ(aes.result, chacha.result);
}

// The device fails at every operation in turn: nobody notices but the health report.
TEST(DeviceCohort, FailingDeviceLosesNothing) {
  for (const Setting& setting :
       {Setting{Representation::kBytes, Security::kMalicious, 13},
        Setting{Representation::kPlanes, Security::kSemiHonest, 13},
        Setting{Representation::kBytes, Security::kMalicious, 5, 16, false},
        Setting{Representation::kPlanes, Security::kSemiHonest, 5, 16, false},
        Setting{Representation::kBytes, Security::kMalicious, 7, 16, true, kChaCha20}}) {
    const Outcome expected = run(setting, nullptr, 0);
    std::uint64_t operations = 0;
    {
      HostDevice device(setting.representation);
      run(setting, &device.backend, 1);
      operations = device.driver->operations();
    }
    for (std::uint64_t at = 0; at < operations; ++at) {
      HostDevice device(setting.representation, 1, at);
      EXPECT_EQ(run(setting, &device.backend, 1), expected) << at;
      // The last two operations wipe the slot: its memory is freed then, no cohort is lost.
      EXPECT_EQ(device.lost.empty(), at >= operations - 2) << at;
    }
  }
}

// One device for many cohorts, of sizes that share a slot and that do not, in both directions.
TEST(DeviceCohort, SlotsServeOneCohortAfterAnother) {
  HostDevice device(Representation::kBytes);
  std::uint64_t held = 0;
  for (int time = 0; time < 2; ++time) {
    for (std::size_t blocks : {40u, 41u, 64u, 90u, 40u})
      for (bool encrypt : {true, false}) {
        Setting setting{Representation::kBytes, Security::kMalicious, blocks, 16, encrypt};
        EXPECT_EQ(run(setting, &device.backend, 3), run(setting, nullptr, 0)) << blocks;
        setting.zero_shares = kChaCha20;  // in the same slots, as in a session after this one
        EXPECT_EQ(run(setting, &device.backend, 3), run(setting, nullptr, 0)) << blocks;
      }
    EXPECT_FALSE(device.driver->misuse()) << *device.driver->misuse();
    if (time == 0) held = device.driver->octets_held();
  }
  EXPECT_EQ(device.driver->octets_held(), held);  // the second time nothing was allocated
  EXPECT_EQ(device.lost, "");
}

TEST(SlotPool, WipesBetweenCohorts) {
  HostDriver driver;
  SlotPool pool(driver);
  auto slot = pool.acquire(100);
  ASSERT_TRUE(slot.ok());
  Slot* const first = slot->get();
  ASSERT_EQ(first->capacity(), 128u);
  Word* device_parts[] = {first->view.state[1], first->spare[0], first->view.octets[1],
                          first->view.mine[3], first->view.theirs[0]};
  std::uint8_t* pinned_parts[] = {first->key, first->octets[0], first->input[1], first->mine[1][3],
                                  first->theirs[0][2]};
  for (Word* part : device_parts) std::memset(part, 0xa5, 256);
  for (std::uint8_t* part : pinned_parts) std::memset(part, 0xa5, 256);
  std::memset(first->tick, 0xa5, sizeof *first->tick);
  std::memset(first->device_tick, 0xa5, sizeof *first->device_tick);
  pool.give_back(std::move(*slot));
  auto again = pool.acquire(65);
  ASSERT_TRUE(again.ok());
  ASSERT_EQ(again->get(), first);
  auto all_zero = [](const void* part, std::size_t octets) {
    const auto* at = static_cast<const std::uint8_t*>(part);
    return std::all_of(at, at + octets, [](std::uint8_t octet) { return octet == 0; });
  };
  for (Word* part : device_parts) EXPECT_TRUE(all_zero(part, 256));
  for (std::uint8_t* part : pinned_parts) EXPECT_TRUE(all_zero(part, 256));
  EXPECT_TRUE(all_zero(first->tick, sizeof *first->tick));
  EXPECT_TRUE(all_zero(first->device_tick, sizeof *first->device_tick));
}

TEST(CudaBackend, LanesDoNotDisturbEachOther) {
  HostDevice device(Representation::kBytes);
  run_side_by_side(device.backend, 4, 300);
  EXPECT_EQ(device.lost, "");
  EXPECT_FALSE(device.driver->misuse()) << *device.driver->misuse();
}

TEST(CudaBackend, SmallCohortsAndLostDevicesStayOnTheCpu) {
  const Setting setting{Representation::kBytes, Security::kSemiHonest, 20};
  HostDevice device(setting.representation, 21);
  run(setting, &device.backend, 1);
  EXPECT_EQ(device.driver->operations(), 0u);
  HostDevice lost(setting.representation);
  lost.device.health.set_lost("pulled out");
  run(setting, &lost.backend, 1);
  EXPECT_EQ(lost.driver->operations(), 0u);
  EXPECT_NE(lost.lost.find("pulled out"), std::string::npos);
}

// A device that is lost between two cohorts, when its memory is wiped: the next one finds out.
TEST(DeviceCohort, ALossWhileIdleShowsInTheNextCohort) {
  const Setting setting{Representation::kBytes, Security::kSemiHonest, 13};
  const Outcome expected = run(setting, nullptr, 0);
  HostDevice whole(setting.representation);
  run(setting, &whole.backend, 1);
  HostDevice device(setting.representation, 1, whole.driver->operations() - 1);
  EXPECT_EQ(run(setting, &device.backend, 1), expected);
  EXPECT_FALSE(device.device.health.lost());
  EXPECT_EQ(run(setting, &device.backend, 1), expected);
  EXPECT_TRUE(device.device.health.lost());
  EXPECT_NE(device.lost.find("given no more work"), std::string::npos) << device.lost;
}

// No failure: the CPU computes what does not fit, the device all else.
TEST(CudaBackend, WhatDoesNotFitIsTheCpus) {
  const Setting large{Representation::kBytes, Security::kSemiHonest, 900};
  const Setting small{Representation::kBytes, Security::kSemiHonest, 20};
  auto* const driver = new HostDriver(HostDriver::kNever, 60'000);
  TestDevice device{std::unique_ptr<Driver>(driver), large.representation};
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(run(large, &device.backend, 1), run(large, nullptr, 0));
    EXPECT_NE(device.lost.find("has no memory"), std::string::npos) << device.lost;
    EXPECT_FALSE(device.device.health.lost());
    const std::uint64_t before = driver->operations();
    EXPECT_EQ(run(small, &device.backend, 1), run(small, nullptr, 0));
    EXPECT_GT(driver->operations(), before + 40);
  }
}

}  // namespace
}  // namespace tkdc::cuda
