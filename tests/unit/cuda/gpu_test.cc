// SPDX-License-Identifier: Apache-2.0
// The tests of device cohorts on GPU 0. A program of its own: where there is no GPU it says why
// and ends with status 2, so that nobody takes that for a pass.
#include <cstdio>

#include "cuda/device/gpu.h"
#include "cuda/device/selftest.h"
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
    for (int time = 0; time < 2; ++time)  // the second launches captured graphs again
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
    for (int time = 0; time < 2; ++time)  // the second launches captured graphs again
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

}  // namespace
}  // namespace tkdc::cuda

int main(int argc, char** argv) {
  if (auto driver = tkdc::cuda::open_gpu({0, true}); !driver) {
    std::fprintf(stderr, "gpu_test: nothing was tested: %s\n", driver.error().message.c_str());
    return 2;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
