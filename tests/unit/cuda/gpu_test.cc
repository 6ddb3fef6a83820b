// SPDX-License-Identifier: Apache-2.0
// The tests of device cohorts on GPU 0. A program of its own: where there is no GPU it says why
// and ends with status 2, so that nobody takes that for a pass. With --lose-device=N it does
// nothing but lose the GPU at step N of a cohort and its check.
#include <charconv>
#include <cstdio>
#include <string_view>

#include "cuda/device/gpu.h"
#include "cuda/device/selftest.h"
#include "unit/cuda/losing_driver.h"
#include "unit/cuda/ripple_runs.h"

namespace tkdc::cuda {
namespace {

std::unique_ptr<Driver> gpu() {
  auto driver = open_gpu({0, true});
  EXPECT_TRUE(driver.ok()) << (driver.ok() ? "" : driver.error().message);
  return driver.ok() ? std::move(*driver) : nullptr;
}

TEST(Gpu, PassesItsSelfTest) {
  Device device(gpu());
  auto tested = self_test(device);
  EXPECT_TRUE(tested.ok()) << (tested.ok() ? "" : tested.error().message);
}

class GpuCohorts : public testing::TestWithParam<Setting> {};

TEST_P(GpuCohorts, WireTraceIsThatOfThreeCpus) {
  const Outcome expected = run(GetParam(), nullptr, 0);
  for (int parties : {1, 3}) {
    TestDevice device(gpu(), GetParam().representation);
    for (int time = 0; time < 3; ++time)  // graphs are captured, and launched
      EXPECT_EQ(run(GetParam(), &device.backend, parties), expected) << parties;
    EXPECT_EQ(device.lost, "");
  }
}

std::vector<Setting> gpu_settings() {
  std::vector<Setting> all = settings();
  for (Representation representation : {Representation::kBytes, Representation::kPlanes})
    all.push_back({representation, Security::kSemiHonest, 20'001});
  all.push_back({Representation::kBytes, Security::kMalicious, 5'003});
  for (std::size_t k = 0, count = all.size(); k < count; ++k) {
    all.push_back(all[k]);
    all.back().zero_shares = ZeroGenerator::kChaCha20;
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Settings, GpuCohorts, testing::ValuesIn(gpu_settings()));

class GpuRipples : public testing::TestWithParam<HashSetting> {};

TEST_P(GpuRipples, WireTraceIsThatOfThreeCpus) {
  const Outcome expected = run_hashes(GetParam(), nullptr, 0);
  for (unsigned parties : {1u, 2u, 4u, 7u}) {
    TestDevice device(gpu(), Representation::kBytes);
    for (int time = 0; time < 3; ++time)  // graphs are captured, and launched
      EXPECT_EQ(run_hashes(GetParam(), &device.backend, parties), expected) << parties;
    EXPECT_EQ(device.lost, "");
  }
}

std::vector<HashSetting> gpu_hash_settings() {
  std::vector<HashSetting> all = hash_settings();
  all.push_back({5'003, 55, Security::kSemiHonest});
  all.push_back({2'048, 55, Security::kMalicious, ZeroGenerator::kChaCha20});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Settings, GpuRipples, testing::ValuesIn(gpu_hash_settings()));

TEST(Gpu, MoreMemoryThanThereIsIsAnErrorAndNotTheEnd) {
  auto driver = gpu();
  auto memory = driver->allocate(std::size_t{1} << 45);
  ASSERT_FALSE(memory.ok());
  EXPECT_NE(memory.error().message.find("GPU: allocating"), std::string::npos);
  auto small = driver->allocate(4096);
  ASSERT_TRUE(small.ok()) << small.error().message;
  driver->release(*small, 4096);
}

TEST(Gpu, LanesDoNotDisturbEachOther) {
  TestDevice device(gpu(), Representation::kBytes);
  run_side_by_side(device.backend, 4, 5'000);
  EXPECT_EQ(device.lost, "");
}

// Almost all memory is taken: what does not fit is computed on the CPU, and later there again.
TEST(Gpu, WhatDoesNotFitIsTheCpus) {
  const Setting setting{Representation::kBytes, Security::kMalicious, 20'001};
  const Outcome expected = run(setting, nullptr, 0);
  TestDevice device(gpu(), setting.representation);
  Driver& driver = *device.device.driver;
  std::vector<std::pair<void*, std::size_t>> taken;
  for (std::size_t octets = std::size_t{1} << 38; octets >= std::size_t{1} << 20; octets /= 2)
    while (auto memory = driver.allocate(octets)) taken.emplace_back(*memory, octets);
  EXPECT_EQ(run(setting, &device.backend, 1), expected);
  EXPECT_NE(device.lost.find("has no memory"), std::string::npos) << device.lost;
  EXPECT_FALSE(device.device.health.lost());
  for (auto [memory, octets] : taken) driver.release(memory, octets);
  EXPECT_EQ(run(setting, &device.backend, 1), expected);
  EXPECT_FALSE(device.device.health.lost()) << device.device.health.why();
}

// Whether a server would have lost nothing but its GPU.
bool loses_only_the_device(std::uint64_t at) {
  const Setting setting{Representation::kBytes, Security::kMalicious, 2'001};
  const Outcome expected = run(setting, nullptr, 0);
  TestDevice device(std::make_unique<LosingDriver>(gpu(), at), setting.representation);
  const bool same = run(setting, &device.backend, 1) == expected;
  std::printf("step %llu: %s; the result is %s\n", static_cast<unsigned long long>(at),
              device.lost.empty() ? "no failure was seen" : device.lost.c_str(),
              same ? "right" : "WRONG");
  return same && device.device.health.lost();
}

}  // namespace
}  // namespace tkdc::cuda

int main(int argc, char** argv) {
  if (auto driver = tkdc::cuda::open_gpu({0, true}); !driver) {
    std::fprintf(stderr, "gpu_test: nothing was tested: %s\n", driver.error().message.c_str());
    return 2;
  }
  constexpr std::string_view kLose = "--lose-device=";
  if (const std::string_view last = argv[argc - 1]; last.starts_with(kLose)) {
    std::uint64_t at = 0;
    const std::string_view number = last.substr(kLose.size());
    std::from_chars(number.data(), number.data() + number.size(), at);
    return tkdc::cuda::loses_only_the_device(at) ? 0 : 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
