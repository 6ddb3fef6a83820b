// SPDX-License-Identifier: Apache-2.0
// tkdc bench ctr --exchange device, none and host, on the host's loops instead of a GPU.
#include "tools/bench/resident.h"

#include <gtest/gtest.h>

#include "unit/cuda/lying_driver.h"

namespace tkdc::bench {
namespace {

using cuda::ResidentExchange;

constexpr ResidentExchange kExchanges[] = {ResidentExchange::kDevice, ResidentExchange::kNone,
                                           ResidentExchange::kHost};

ResidentBench small(ResidentExchange exchange, int aes = 128) {
  ResidentBench bench;
  bench.aes = aes;
  bench.cohort_blocks = 40;  // the last key has 8 blocks
  bench.seconds = 0.05;
  bench.exchange = exchange;
  return bench;
}

TEST(BenchResident, MeasuresAndChecks) {
  for (ResidentExchange exchange : kExchanges)
    for (int aes : {128, 256})
      for (ZeroGenerator generator : {ZeroGenerator::kAesCtr, ZeroGenerator::kChaCha20}) {
        cuda::HostDriver driver;
        ResidentBench bench = small(exchange, aes);
        bench.zero_shares = generator;
        auto report = measure_resident(driver, bench);
        ASSERT_TRUE(report.ok()) << report.error().message;
        const nlohmann::json& r = *report;
        EXPECT_EQ(r["mode"], exchange_name(exchange));
        EXPECT_EQ(r["parties"], exchange == ResidentExchange::kDevice ? 3 : 1);
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
  for (ResidentExchange exchange : kExchanges)
    for (Kernel kernel : {Kernel::kOctetNorm, Kernel::kOctetProduct, Kernel::kOctetEncryptRound,
                          Kernel::kOctetEncryptLast, Kernel::kOctetAddRoundKey, Kernel::kCount}) {
      if (kernel == Kernel::kCount && exchange != ResidentExchange::kDevice) continue;
      cuda::LyingDriver driver(kernel);
      auto report = measure_resident(driver, small(exchange));
      ASSERT_FALSE(report.ok()) << static_cast<int>(kernel);
      EXPECT_NE(report.error().message.find("differ"), std::string::npos) << report.error().message;
    }
  // One party alone: also its zero-share, which three parties' results do not show.
  cuda::LyingDriver driver(Kernel::kMaskChaCha2);
  EXPECT_FALSE(measure_resident(driver, small(ResidentExchange::kNone)).ok());
  // With transfers: also a message that does not arrive. The first layer's has 8 octets a block.
  cuda::LyingDriver::LeftOut messages;
  messages.octets_out = 8 * 40;
  cuda::LyingDriver silent(messages);
  auto report = measure_resident(silent, small(ResidentExchange::kHost));
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().message.find("messages differ"), std::string::npos);
}

// Several lanes: as many cohorts in each, no two with the same keys; what goes by the link.
TEST(BenchResident, MeasuresTransfersOfSeveralLanes) {
  cuda::HostDriver driver;
  ResidentBench bench = small(ResidentExchange::kHost);
  bench.lanes = 3;
  bench.bandwidth = {8e9, 9e9, 7.2e9};
  auto report = measure_resident(driver, bench);
  ASSERT_TRUE(report.ok()) << report.error().message;
  const nlohmann::json& r = *report;
  EXPECT_EQ(r["lanes"], 3);
  EXPECT_EQ(r["blocks"].get<std::size_t>() % 120, 0u);
  const double rate = r["blocks_per_s"];
  EXPECT_NEAR(r["message_bytes_per_s_each_way"].get<double>(), 360 * rate, 1.0);
  EXPECT_EQ(r["bytes_from_device_per_block"], 360.0);
  // Three keys of 32 octets in 11 rounds, for 40 blocks; and the Ticks.
  EXPECT_EQ(r["bytes_to_device_per_block"],
            360.0 + (32.0 * 3 * 11 + 40.0 * sizeof(cuda::Tick)) / 40);
  EXPECT_EQ(r["pcie"]["both_bytes_per_s_each_way"], 7.2e9);
  EXPECT_EQ(r["pcie_limit_blocks_per_s"], 2e7);
  EXPECT_DOUBLE_EQ(r["of_pcie_limit"].get<double>(), rate / 2e7);
  EXPECT_FALSE(driver.misuse()) << *driver.misuse();
  EXPECT_EQ(driver.octets_held(), 0u);
}

// The largest cohort, by the host's loops: 3.4 GB of memory and 43 s of CPU, so only when asked
// for (--gtest_also_run_disabled_tests).
TEST(BenchResident, DISABLED_LargestCohort) {
  cuda::HostDriver driver;
  ResidentBench bench = small(ResidentExchange::kHost);
  bench.cohort_blocks = std::size_t{1} << 22;
  auto report = measure_resident(driver, bench);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_FALSE(driver.misuse()) << *driver.misuse();
}

TEST(BenchResident, MeasuresTheSameWorkOnTheCpu) {
  for (const Rep3Backend* cpu : usable_rep3_backends()) {
    if (cpu->representation() != Representation::kBytes) continue;
    auto report = measure_cpu_party(*cpu, small(ResidentExchange::kNone));
    ASSERT_TRUE(report.ok()) << report.error().message;
    const nlohmann::json& r = *report;
    EXPECT_EQ(r["backend"], cpu->name());
    EXPECT_EQ(r["mode"], "none");
    EXPECT_EQ(r["threads"], 1);
    EXPECT_EQ(r["cohort_blocks"], 40);
    EXPECT_EQ(r["checked"], true);
    EXPECT_GE(r["seconds"].get<double>(), 0.05);
    EXPECT_GT(r["blocks_per_s"].get<double>(), 0);
  }
}

// A backend that adds public constants to the wrong component.
class WrongBackend final : public Rep3Backend {
 public:
  std::string name() const override { return "wrong"; }
  Representation representation() const override { return Representation::kBytes; }
  std::unique_ptr<AesCohort> make_cohort(int party, std::size_t blocks) const override {
    return (*choose_rep3_backend("scalar", Representation::kBytes))->make_cohort(1 - party, blocks);
  }
};

TEST(BenchResident, FindsAWrongCpu) {
  auto report = measure_cpu_party(WrongBackend(), small(ResidentExchange::kNone));
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().message.find("differ"), std::string::npos);
}

TEST(BenchResident, SaysWhenTheDeviceFails) {
  for (std::uint64_t at : {0u, 5u, 12u, 20u}) {
    cuda::HostDriver driver(at);
    auto report = measure_resident(driver, small(ResidentExchange::kDevice));
    ASSERT_FALSE(report.ok());
    EXPECT_NE(report.error().message.find("told to"), std::string::npos);
  }
}

}  // namespace
}  // namespace tkdc::bench
