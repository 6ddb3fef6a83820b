// SPDX-License-Identifier: Apache-2.0
// tkdc bench ctr: how many AES blocks the parties encrypt on this machine: the three of them as
// processes with TLS between them (tls.h), or in a GPU's memory (resident.h). Size by
// size, and by a second backend beside the first.
#include "tools/bench/ctr.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "cuda/device/gpu.h"
#include "tools/bench/device.h"
#include "tools/bench/modes.h"
#include "tools/bench/resident.h"
#include "tools/bench/sizes.h"

namespace tkdc::bench {
namespace {

struct CtrArguments : BenchModes {
  int aes = 128;
};

constexpr std::size_t kLeastBlocks = 16, kMostBlocks = std::size_t{1} << 22;
// Over TLS: a layer of more would be a packet above a link's 64 MiB.
constexpr std::size_t kMostTlsBlocks = std::size_t{1} << 21;
// A CPU's cohort beside a device's: larger ones leave its cache and only become slower.
constexpr std::size_t kCpuBlocks = 4096;

std::uint64_t whole(const nlohmann::json& number) {
  return static_cast<std::uint64_t>(number.get<double>());
}

void print_tls(const CtrArguments& arguments, const nlohmann::json& s) {
  std::cout << "AES-" << arguments.aes << " in counter mode, three parties over TLS on loopback, "
            << s["security"].get<std::string>() << "\n  " << whole(s["blocks_per_s"])
            << " blocks/s, " << s["cpu_us_per_block"] << " us of CPU per block (all parties), "
            << s["bytes_per_block_per_party"] << " message bytes per block and party, "
            << s["rounds"] << " rounds; backend " << s["backend"].get<std::string>()
            << ", zero-shares by " << s["zero_shares"].get<std::string>() << ", records by "
            << s["records"].get<std::string>() << ", " << s["lanes"] << " lanes of "
            << s["cohort_blocks"] << " blocks\n"
            << "  " << s["backend_reason"].get<std::string>() << "\n";
}

void print_resident(const CtrArguments& arguments, const nlohmann::json& r) {
  std::cout << "AES-" << arguments.aes << " by "
            << (r.contains("driver") ? r["driver"] : r["backend"]).get<std::string>() << ", "
            << (r["mode"] == "device" ? "three parties in its memory"
                : r["mode"] == "host" ? "one party's local work with its transfers"
                                      : "one party's local work")
            << ", semi-honest\n  " << whole(r["blocks_per_s"]) << " blocks/s, " << r["lanes"]
            << " lanes of " << r["cohort_blocks"] << " blocks, zero-shares by "
            << r["zero_shares"].get<std::string>() << "\n";
  if (r.contains("pcie"))
    std::cout << "  " << whole(r["message_bytes_per_s_each_way"])
              << " bytes/s of messages each way, " << 100 * r["of_pcie_limit"].get<double>()
              << " % of what the link's " << whole(r["pcie"]["both_bytes_per_s_each_way"])
              << " allow (alone: " << whole(r["pcie"]["to_device_bytes_per_s"])
              << " to the device, " << whole(r["pcie"]["from_device_bytes_per_s"]) << " from it)\n";
}

void print(const CtrArguments& arguments, const nlohmann::json& report) {
  if (arguments.json)
    std::cout << report.dump() << "\n";
  else if (report["mode"] == "tls")
    print_tls(arguments, report);
  else
    print_resident(arguments, report);
  std::cout.flush();
}

ResidentBench resident_bench(const CtrArguments& arguments, std::size_t size) {
  ResidentBench bench;
  bench.aes = arguments.aes;
  bench.cohort_blocks = size;
  bench.seconds = arguments.seconds;
  if (arguments.exchange == "none") bench.exchange = cuda::ResidentExchange::kNone;
  if (arguments.exchange == "host") bench.exchange = cuda::ResidentExchange::kHost;
  if (arguments.setup.zero_shares == "aes-ctr") bench.zero_shares = ZeroGenerator::kAesCtr;
  bench.lanes = static_cast<std::size_t>(arguments.setup.lanes);
  return bench;
}

// One party's local work on the CPU, at the sizes that suit it; zero-shares as CPUs agree on them
// unless told otherwise.
Result<void> measure_against(const CtrArguments& arguments) {
  auto cpu = choose_rep3_backend(arguments.against, Representation::kBytes);
  if (!cpu) return cpu.error();
  std::size_t last = 0;
  for (std::size_t size : arguments.sizes) {
    ResidentBench bench = resident_bench(arguments, std::min(size, kCpuBlocks));
    if (bench.cohort_blocks == last) continue;
    last = bench.cohort_blocks;
    bench.lanes = 1;
    bench.zero_shares = arguments.setup.zero_shares == "chacha20" ? ZeroGenerator::kChaCha20
                                                                  : ZeroGenerator::kAesCtr;
    auto report = measure_cpu_party(**cpu, bench);
    if (!report) return report.error();
    print(arguments, *report);
  }
  return {};
}

// Cohorts that stay on the GPU: three parties, or one alone.
int bench_resident(const CtrArguments& arguments) {
  if (const std::string why = hindrance(arguments); !why.empty()) return refuse_bench(why);
  cuda::GpuOptions options;
  options.allow_shared = true;
  auto gpu = cuda::open_gpu(options);
  if (!gpu) return refuse_bench(gpu.error().message, kNoDevice);
  std::optional<cuda::Bandwidth> bandwidth;
  if (arguments.exchange == "host") {
    auto measured = cuda::measure_bandwidth(**gpu);
    if (!measured) return refuse_bench(measured.error().message);
    bandwidth = *measured;
  }
  for (std::size_t size : arguments.sizes) {
    ResidentBench bench = resident_bench(arguments, size);
    bench.bandwidth = bandwidth;
    auto report = measure_resident(**gpu, bench);
    if (!report) return refuse_bench(report.error().message);
    print(arguments, *report);
  }
  if (arguments.against.empty()) return 0;
  if (auto done = measure_against(arguments); !done) return refuse_bench(done.error().message);
  return 0;
}

int bench_tls(const CtrArguments& arguments) {
  auto bench = [&](std::size_t size) {
    TlsBench one;
    one.workload = ctr_workload(static_cast<std::size_t>(arguments.aes) / 8, size);
    one.cohort = size;
    one.seconds = arguments.seconds;
    one.setup = arguments.setup;
    return one;
  };
  return bench_over_tls(arguments, bench, [&](nlohmann::json report) {
    report["aes"] = arguments.aes;
    print(arguments, report);
  });
}

int bench_ctr(CtrArguments& arguments) {
  const bool tls = arguments.exchange == "tls";
  auto sizes = parse_sizes(arguments.cohorts, kLeastBlocks, kMostBlocks);
  if (!sizes) return refuse_bench("--cohort: " + sizes.error().message);
  arguments.sizes = std::move(*sizes);
  for (std::size_t size : arguments.sizes)
    if (tls && size > kMostTlsBlocks)
      return refuse_bench(
          "--cohort: a lane takes " + std::to_string(kMostTlsBlocks) +
          " blocks at once over TLS, since a packet has at most 64 MiB; use --lanes 2");
  return tls ? bench_tls(arguments) : bench_resident(arguments);
}

}  // namespace

void add_ctr(CLI::App& bench, int& exit_status) {
  auto arguments = std::make_shared<CtrArguments>();
  CLI::App* ctr = bench.add_subcommand(
      "ctr", "AES counter mode: three parties on loopback, or parties on a GPU");
  ctr->add_option("--aes", arguments->aes, "key bits")->check(CLI::IsMember({128, 256}));
  add_mode_options(*ctr, *arguments, "4096", {"tls", "device", "none", "host"});
  ctr->footer(
      "Example: the semi-honest mode, with AES-256:\n"
      "  tkdc bench ctr --aes 256 --security semi-honest");
  ctr->callback([arguments, &exit_status] { exit_status = bench_ctr(*arguments); });
}

}  // namespace tkdc::bench
