// SPDX-License-Identifier: Apache-2.0
// tkdc bench ctr --exchange device and none, on the host's loops instead of a GPU.
#include "cli/bench_resident.h"

#include <gtest/gtest.h>

#include "unit/cuda/lying_driver.h"

namespace tkdc::cli {
namespace {

ResidentBench small(bool exchange, int aes = 128) {
  ResidentBench bench;
  bench.aes = aes;
  bench.cohort_blocks = 40;  // the last key has 8 blocks
  bench.seconds = 0.05;
  bench.exchange = exchange;
  return bench;
}

TEST(BenchResident, MeasuresAndChecks) {
  for (bool exchange : {true, false})
    for (int aes : {128, 256})
      for (ZeroGenerator generator : {ZeroGenerator::kAesCtr, ZeroGenerator::kChaCha20}) {
        cuda::HostDriver driver;
        ResidentBench bench = small(exchange, aes);
        bench.zero_shares = generator;
        auto report = measure_resident(driver, bench);
        ASSERT_TRUE(report.ok()) << report.error().message;
        const nlohmann::json& r = *report;
        EXPECT_EQ(r["mode"], exchange ? "device" : "none");
        EXPECT_EQ(r["parties"], exchange ? 3 : 1);
        EXPECT_EQ(r["aes"], aes);
        EXPECT_EQ(r["backend"], "cuda");
        EXPECT_EQ(r["driver"], "host");
        EXPECT_EQ(r["cohort_blocks"], 40);
        EXPECT_EQ(r["security"], "semi-honest");
        EXPECT_EQ(r["zero_shares"], zero_generator_name(generator));
        EXPECT_EQ(r["rounds"], aes == 128 ? 40 : 56);
        EXPECT_EQ(r["bytes_per_block_per_party"], aes == 128 ? 360.0 : 504.0);
        EXPECT_EQ(r["checked"], true);
        EXPECT_GE(r["seconds"].get<double>(), 0.05);
        EXPECT_EQ(r["blocks"].get<std::size_t>() % 40, 0u);
        EXPECT_NEAR(r["blocks_per_s"].get<double>(),
                    r["blocks"].get<double>() / r["seconds"].get<double>(), 1.0);
        EXPECT_FALSE(driver.misuse()) << *driver.misuse();
        EXPECT_EQ(driver.octets_held(), 0u);
      }
}

// A device that computes or copies wrongly is not measured.
TEST(BenchResident, FindsAWrongDevice) {
  using cuda::Kernel;
  for (bool exchange : {true, false})
    for (Kernel kernel : {Kernel::kOctetNorm, Kernel::kOctetProduct, Kernel::kOctetEncryptRound,
                          Kernel::kOctetEncryptLast, Kernel::kOctetAddRoundKey, Kernel::kCount}) {
      if (kernel == Kernel::kCount && !exchange) continue;
      cuda::LyingDriver driver(kernel);
      auto report = measure_resident(driver, small(exchange));
      ASSERT_FALSE(report.ok()) << static_cast<int>(kernel);
      EXPECT_NE(report.error().message.find("differ"), std::string::npos) << report.error().message;
    }
  // One party alone: also its zero-share, which three parties' results do not show.
  cuda::LyingDriver driver(Kernel::kMaskChaCha2);
  EXPECT_FALSE(measure_resident(driver, small(false)).ok());
}

TEST(BenchResident, SaysWhenTheDeviceFails) {
  for (std::uint64_t at : {0u, 5u, 12u, 20u}) {
    cuda::HostDriver driver(at);
    auto report = measure_resident(driver, small(true));
    ASSERT_FALSE(report.ok());
    EXPECT_NE(report.error().message.find("told to"), std::string::npos);
  }
}

}  // namespace
}  // namespace tkdc::cli
