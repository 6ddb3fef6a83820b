// SPDX-License-Identifier: Apache-2.0
// tkdc bench sha1 --exchange host, on the host's loops instead of a GPU.
#include "tools/bench/ripple.h"

#include <gtest/gtest.h>

#include "cuda/device/backend.h"
#include "unit/cuda/lying_driver.h"

namespace tkdc::bench {
namespace {

RippleBench small_ripples(std::size_t lanes) {
  RippleBench bench;
  bench.compressions = 24;
  bench.seconds = 0.02;
  bench.lanes = lanes;
  return bench;
}

TEST(BenchRipple, MeasuresAndChecks) {
  for (ZeroGenerator generator : {ZeroGenerator::kAesCtr, ZeroGenerator::kChaCha20})
    for (std::size_t lanes : {1u, 3u}) {
      auto driver = std::make_unique<cuda::HostDriver>();
      cuda::HostDriver& host = *driver;
      cuda::Device device(std::move(driver));
      const cuda::CudaRipples ripples(device, 1);
      RippleBench bench = small_ripples(lanes);
      bench.zero_shares = generator;
      const std::uint64_t before = host.operations();
      auto report = measure_ripples(&ripples, bench);
      ASSERT_TRUE(report.ok()) << report.error().message;
      const nlohmann::json& r = *report;
      EXPECT_EQ(r["mode"], "host");
      EXPECT_EQ(r["lanes"], lanes);
      EXPECT_EQ(r["cohort_compressions"], 24);
      EXPECT_EQ(r["zero_shares"], zero_generator_name(generator));
      EXPECT_EQ(r["compressions"].get<std::size_t>() % (24 * lanes), 0u);
      EXPECT_NEAR(r["compressions_per_s"].get<double>(),
                  r["compressions"].get<double>() / r["seconds"].get<double>(), 1.0);
      // Two cohorts at least in each lane, a step and a wait in each round: none is the CPU's.
      EXPECT_GE(host.operations() - before, lanes * 2 * 2 * 2165);
      EXPECT_TRUE(device.health.did_all());
      EXPECT_FALSE(host.misuse()) << *host.misuse();
    }
}

TEST(BenchRipple, MeasuresTheCpu) {
  auto report = measure_ripples(nullptr, small_ripples(2));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_GT((*report)["compressions_per_s"].get<double>(), 0);
  EXPECT_EQ((*report)["bytes_per_compression_per_party"], 1379.375);
}

TEST(BenchRipple, FindsAWrongDevice) {
  using cuda::Kernel;
  for (Kernel kernel : {Kernel::kBitsRound, Kernel::kBitsPack, Kernel::kBitsSlice,
                        Kernel::kBitsUnslice, Kernel::kMaskChaCha0}) {
    cuda::Device device(std::make_unique<cuda::LyingDriver>(kernel));
    const cuda::CudaRipples ripples(device, 1);
    auto report = measure_ripples(&ripples, small_ripples(1));
    ASSERT_FALSE(report.ok()) << static_cast<int>(kernel);
    EXPECT_NE(report.error().message.find("differ"), std::string::npos);
  }
}

// The CPU takes over; who measured asks the device's health.
TEST(BenchRipple, TellsOfADeviceThatFails) {
  cuda::Device device(std::make_unique<cuda::HostDriver>(3000));
  const cuda::CudaRipples ripples(device, 1);
  EXPECT_TRUE(measure_ripples(&ripples, small_ripples(1)).ok());
  EXPECT_TRUE(device.health.lost());
}

}  // namespace
}  // namespace tkdc::bench
