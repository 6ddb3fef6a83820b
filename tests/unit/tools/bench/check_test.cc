// SPDX-License-Identifier: Apache-2.0
// tkdc bench check and the rate of products, on a device that the host's loops are: what is timed
// is what the CPU computes, and a device that is wrong or fails is no figure.
#include "tools/bench/check.h"

#include <gtest/gtest.h>

#include "cuda/device/check.h"
#include "cuda/device/product_rate.h"
#include "unit/cuda/lying_driver.h"

namespace tkdc::bench {
namespace {

CheckBench quick(Claims claims) { return {claims, 20'000, 0.001}; }

TEST(BenchCheck, ADeviceTakesTheCourseOfTheCpu) {
  for (Claims claims : {Claims::kSboxes, Claims::kBits}) {
    auto* const driver = new cuda::HostDriver;
    cuda::Device device{std::unique_ptr<cuda::Driver>(driver)};
    cuda::DeviceChecks checks(device, 1);
    auto cpu = measure_check(nullptr, quick(claims)), there = measure_check(&checks, quick(claims));
    ASSERT_TRUE(cpu.ok() && there.ok());
    EXPECT_GE(cpu->products, 20'000u);
    EXPECT_FALSE(cpu->course.empty());
    EXPECT_EQ(there->course, cpu->course);
    for (double seconds : {there->points_s, there->lift_s, there->fold_s}) EXPECT_GT(seconds, 0);
    EXPECT_GT(driver->operations(), 10u);
    EXPECT_TRUE(device.health.did_all());
  }
}

TEST(BenchCheck, AWrongDeviceShows) {
  auto cpu = measure_check(nullptr, quick(Claims::kBits));
  for (cuda::Kernel kernel :
       {cuda::Kernel::kCheckBitPoints, cuda::Kernel::kCheckLiftBitsY, cuda::Kernel::kCheckFold}) {
    cuda::Device device(std::make_unique<cuda::LyingDriver>(kernel));
    cuda::DeviceChecks checks(device, 1);
    auto there = measure_check(&checks, quick(Claims::kBits));
    ASSERT_TRUE(cpu.ok() && there.ok());
    EXPECT_NE(there->course, cpu->course);
  }
}

TEST(BenchCheck, ADeviceWithoutMemoryIsAnError) {
  cuda::Device device(std::make_unique<cuda::HostDriver>(cuda::HostDriver::kNever, 4096));
  cuda::DeviceChecks checks(device, 1);
  EXPECT_FALSE(measure_check(&checks, quick(Claims::kSboxes)).ok());
}

TEST(ProductRate, BothWaysAreCheckedAndMeasured) {
  const cuda::ProductRateOptions quick{64 * 32, 0.001};
  cuda::HostDriver host;
  auto rate = cuda::measure_products(host, quick);
  ASSERT_TRUE(rate.ok()) << rate.error().message;
  EXPECT_GT(rate->by_integers, 0);
  EXPECT_GT(rate->bit_sliced, 0);
  for (cuda::Kernel kernel : {cuda::Kernel::kCheckProduct, cuda::Kernel::kCheckProductOfPlanes}) {
    cuda::LyingDriver liar(kernel);
    EXPECT_FALSE(cuda::measure_products(liar, quick).ok());
  }
  EXPECT_FALSE(cuda::measure_products(host, {33, 0.001}).ok());
  EXPECT_EQ(host.octets_held(), 0u);
}

}  // namespace
}  // namespace tkdc::bench
