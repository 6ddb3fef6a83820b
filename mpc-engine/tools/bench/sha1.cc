// SPDX-License-Identifier: Apache-2.0
// tkdc bench sha1: how many compressions of SHA-1 the three parties make on this machine in the
// shape of the fewest bits, that of bulk work.
#include "tools/bench/sha1.h"

#include <iostream>

#include "cuda/device/backend.h"
#include "cuda/device/gpu.h"
#include "tools/bench/device.h"
#include "tools/bench/modes.h"
#include "tools/bench/ripple.h"
#include "tools/bench/sizes.h"

namespace tkdc::bench {
namespace {

constexpr std::size_t kLeastCompressions = 8;
constexpr std::size_t kMostCompressions = cuda::DeviceRipple::kMaxColumns;
// A CPU's cohort beside a device's: larger ones leave its cache.
constexpr std::size_t kCpuCompressions = 4096;

void print_sha1(const BenchModes& modes, const nlohmann::json& s) {
  if (modes.json)
    std::cout << s.dump() << "\n";
  else
    std::cout << "SHA-1 in the shape of the fewest bits, three parties over TLS on loopback, "
              << s["security"].get<std::string>() << "\n  "
              << static_cast<std::uint64_t>(s["compressions_per_s"].get<double>())
              << " compressions/s, " << s["cpu_us_per_compression"]
              << " us of CPU each (all parties), " << s["bytes_per_compression_per_party"]
              << " message bytes each and party, " << s["rounds"] << " rounds; backend "
              << s["backend"].get<std::string>() << ", zero-shares by "
              << s["zero_shares"].get<std::string>() << ", " << s["lanes"] << " lanes of "
              << s["cohort_compressions"] << "\n  " << s["backend_reason"].get<std::string>()
              << "\n";
  std::cout.flush();
}

void print_local(const BenchModes& modes, const nlohmann::json& s) {
  if (modes.json)
    std::cout << s.dump() << "\n";
  else
    std::cout << "SHA-1 in the shape of the fewest bits by "
              << (s.contains("driver") ? s["driver"] : s["backend"]).get<std::string>()
              << ", one party's local work in one thread\n  "
              << static_cast<std::uint64_t>(s["compressions_per_s"].get<double>())
              << " compressions/s, " << s["lanes"] << " lanes of " << s["cohort_compressions"]
              << ", zero-shares by " << s["zero_shares"].get<std::string>() << "\n";
  std::cout.flush();
}

RippleBench ripple_bench(const BenchModes& modes, std::size_t size, ZeroGenerator unless_told) {
  RippleBench bench;
  bench.compressions = size;
  bench.seconds = modes.seconds;
  bench.zero_shares = modes.setup.zero_shares == "aes-ctr"    ? ZeroGenerator::kAesCtr
                      : modes.setup.zero_shares == "chacha20" ? ZeroGenerator::kChaCha20
                                                              : unless_told;
  return bench;
}

// One party on the GPU, and with --against on the CPU, whose compressions are the same by every
// backend.
int bench_local(const BenchModes& modes) {
  if (const std::string why = hindrance(modes); !why.empty()) return refuse_bench(why);
  if (!modes.against.empty())
    if (auto cpu = choose_rep3_backend(modes.against, Representation::kBytes); !cpu)
      return refuse_bench(cpu.error().message);
  auto gpu = cuda::open_gpu({0, true});
  if (!gpu) return refuse_bench(gpu.error().message, kNoDevice);
  cuda::Device device(std::move(*gpu));
  const cuda::CudaRipples ripples(device, 1);
  for (std::size_t size : modes.sizes) {
    RippleBench bench = ripple_bench(modes, size, ZeroGenerator::kChaCha20);
    bench.lanes = static_cast<std::size_t>(modes.setup.lanes);
    auto report = measure_ripples(&ripples, bench);
    // Else the CPU has taken over, and the figure is its.
    if (!device.health.did_all()) return refuse_bench(device.health.why());
    if (!report) return refuse_bench(report.error().message);
    (*report)["backend"] = "cuda";
    (*report)["driver"] = device.driver->name();
    print_local(modes, *report);
  }
  if (modes.against.empty()) return 0;
  auto report = measure_ripples(
      nullptr,
      ripple_bench(modes, std::min(modes.sizes.back(), kCpuCompressions), ZeroGenerator::kAesCtr));
  if (!report) return refuse_bench(report.error().message);
  (*report)["backend"] = "cpu";
  print_local(modes, *report);
  return 0;
}

int bench_sha1(BenchModes& modes) {
  auto sizes = parse_sizes(modes.cohorts, kLeastCompressions, kMostCompressions);
  if (!sizes) return refuse_bench("--cohort: " + sizes.error().message);
  modes.sizes = std::move(*sizes);
  if (modes.exchange != "tls") return bench_local(modes);
  auto bench = [&](std::size_t size) {
    return TlsBench{sha1_workload(size), "compression", size, modes.seconds, modes.setup};
  };
  return bench_over_tls(modes, bench,
                        [&](const nlohmann::json& report) { print_sha1(modes, report); });
}

}  // namespace

void add_sha1(CLI::App& bench, int& exit_status) {
  auto modes = std::make_shared<BenchModes>();
  CLI::App* sha1 = bench.add_subcommand(
      "sha1", "SHA-1 as bulk work: three parties on loopback, or one on a GPU");
  add_mode_options(*sha1, *modes, "4096", {"tls", "host"});
  sha1->footer("Example: the semi-honest mode:\n  tkdc bench sha1 --security semi-honest");
  sha1->callback([modes, &exit_status] { exit_status = bench_sha1(*modes); });
}

}  // namespace tkdc::bench
