// SPDX-License-Identifier: Apache-2.0
// Which backend a server gets: by name, by "auto", when there is no device, when it computes
// wrongly, and when it fails later.
#include "cuda/device/select.h"

#include <thread>

#include <gtest/gtest.h>

#include "cuda/device/host_driver.h"
#include "cuda/device/selftest.h"
#include "unit/cuda/cohort_runs.h"
#include "unit/cuda/lying_driver.h"

namespace tkdc::cuda {
namespace {

constexpr Representation kBoth[] = {Representation::kBytes, Representation::kPlanes};

Devices::Open host_device() {
  return [](const GpuOptions&) -> Result<std::unique_ptr<Driver>> {
    return std::unique_ptr<Driver>(std::make_unique<HostDriver>());
  };
}
Devices::Open no_device() {
  return [](const GpuOptions& options) -> Result<std::unique_ptr<Driver>> {
    return fail("no GPU " + std::to_string(options.ordinal) + " here");
  };
}

TEST(SelfTest, PassesOnTheHost) {
  Device device(std::make_unique<HostDriver>());
  auto tested = self_test(device);
  EXPECT_TRUE(tested.ok()) << (tested.ok() ? "" : tested.error().message);
}

TEST(SelfTest, FindsEveryKernelThatIsLeftOut) {
  for (int k = 0; k < static_cast<int>(Kernel::kCount); ++k) {
    Device device(std::make_unique<LyingDriver>(static_cast<Kernel>(k)));
    auto tested = self_test(device);
    ASSERT_FALSE(tested.ok()) << k;
    EXPECT_NE(tested.error().message.find("computes wrongly"), std::string::npos);
  }
}

// The message, then what claims are made of: two of an S-box's inputs, four of SHA-1's factors.
TEST(SelfTest, FindsEveryCopyThatIsLeftOut) {
  for (int copy = 0; copy < 5; ++copy) {
    LyingDriver::LeftOut left_out;
    left_out.copy_out = copy;
    Device device(std::make_unique<LyingDriver>(left_out));
    auto tested = self_test(device);
    ASSERT_FALSE(tested.ok()) << copy;
    EXPECT_NE(tested.error().message.find("computes wrongly"), std::string::npos);
  }
}

TEST(SelfTest, SaysHowADeviceFailed) {
  for (std::uint64_t at : {0u, 1u, 2u, 3u, 9u, 60u}) {
    Device device(std::make_unique<HostDriver>(at));
    auto tested = self_test(device);
    ASSERT_FALSE(tested.ok()) << at;
    EXPECT_NE(tested.error().message.find("told to"), std::string::npos);
  }
}

TEST(Devices, AutoAndCudaTakeADeviceThatPassesItsTest) {
  Devices devices({}, host_device());
  set_device_backends(&devices);
  for (Representation representation : kBoth)
    for (const char* wanted : {"auto", "cuda"}) {
      auto chosen = choose_rep3_backend(wanted, representation);
      ASSERT_TRUE(chosen.ok());
      EXPECT_EQ((*chosen)->name(), "cuda");
      EXPECT_EQ((*chosen)->representation(), representation);
    }
  for (const char* wanted : {"cpu", "scalar"}) {
    auto chosen = choose_rep3_backend(wanted, Representation::kBytes);
    ASSERT_TRUE(chosen.ok());
    EXPECT_NE((*chosen)->name(), "cuda");
  }
}

TEST(Devices, WithoutOneAutoFallsBackAndCudaRefuses) {
  Devices devices({}, no_device());
  set_device_backends(&devices);
  for (Representation representation : kBoth) {
    auto refused = choose_rep3_backend("cuda", representation);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find("no GPU 0 here"), std::string::npos);
    auto fallback = choose_rep3_backend("auto", representation);
    ASSERT_TRUE(fallback.ok());
    EXPECT_NE((*fallback)->name(), "cuda");
    EXPECT_NE(rep3_backend_reason("auto", representation).find("no GPU 0 here"), std::string::npos);
  }
}

TEST(Devices, AWrongDeviceIsNotUsed) {
  Devices devices({}, [](const GpuOptions&) -> Result<std::unique_ptr<Driver>> {
    return std::unique_ptr<Driver>(std::make_unique<LyingDriver>(Kernel::kMaskAes2));
  });
  set_device_backends(&devices);
  EXPECT_FALSE(choose_rep3_backend("cuda", Representation::kBytes).ok());
  EXPECT_NE((*choose_rep3_backend("auto", Representation::kBytes))->name(), "cuda");
}

TEST(Devices, OpensEachOnceAndPassesTheOptionsOn) {
  std::vector<int> opened;
  Devices devices({{2, 5}, true, {100, 100}, {}},
                  [&](const GpuOptions& options) -> Result<std::unique_ptr<Driver>> {
                    opened.push_back(options.ordinal);
                    EXPECT_TRUE(options.allow_shared);
                    return std::unique_ptr<Driver>(std::make_unique<HostDriver>());
                  });
  for (int time = 0; time < 3; ++time)
    for (Representation representation : kBoth) EXPECT_TRUE(devices.backend(representation).ok());
  EXPECT_EQ(opened, (std::vector<int>{2, 5}));
}

TEST(Devices, TheOthersTakeWhatALostOneHad) {
  std::uint64_t tested = 0;
  {
    auto* const driver = new HostDriver;
    Device device{std::unique_ptr<Driver>(driver)};
    ASSERT_TRUE(self_test(device).ok());
    tested = driver->operations();
  }
  std::vector<HostDriver*> drivers;
  std::string said;
  DevicesOptions options{{0, 1}, false, {1, 1}, [&](const std::string& what) { said += what; }};
  Devices devices(options, [&](const GpuOptions&) -> Result<std::unique_ptr<Driver>> {
    drivers.push_back(drivers.empty() ? new HostDriver(tested + 10) : new HostDriver);
    return std::unique_ptr<Driver>(drivers.back());
  });
  auto backend = devices.backend(Representation::kBytes);
  ASSERT_TRUE(backend.ok());
  const Setting setting{Representation::kBytes, Security::kSemiHonest, 20};
  const Outcome expected = run(setting, nullptr, 0);
  auto run_there = [&] { EXPECT_EQ(run(setting, *backend, 1), expected); };
  std::thread([&] {  // two lanes: one of them has the first device, which fails
    run_there();
    std::thread(run_there).join();
    EXPECT_NE(said.find("given no more work"), std::string::npos) << said;
    EXPECT_TRUE(devices.backend(Representation::kBytes).ok());
    for (int lane = 0; lane < 2; ++lane) {
      const std::uint64_t before[2] = {drivers[0]->operations(), drivers[1]->operations()};
      if (lane == 0)
        run_there();
      else
        std::thread(run_there).join();
      EXPECT_EQ(drivers[0]->operations(), before[0]);
      EXPECT_GT(drivers[1]->operations(), before[1]);
    }
  })
      .join();
}

TEST(Devices, NoProgramMeansNoDevice) {
  set_device_backends(nullptr);
  EXPECT_FALSE(choose_rep3_backend("cuda", Representation::kBytes).ok());
  EXPECT_TRUE(choose_rep3_backend("auto", Representation::kBytes).ok());
  EXPECT_FALSE(choose_rep3_backend("abacus", Representation::kBytes).ok());
}

}  // namespace
}  // namespace tkdc::cuda
