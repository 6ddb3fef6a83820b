// SPDX-License-Identifier: Apache-2.0
// tkdc bench ctr: how many AES blocks the three parties encrypt on this
// machine, as three processes with TLS between them on loopback.
//
// Each lane keeps one cohort of `cohort` blocks in flight, made of jobs of 16
// counter blocks with a key of their own. Keys are drawn on shares and thrown
// away; one job of the last cohort is opened and checked against OpenSSL.
#include <sys/resource.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/bench_device.h"
#include "cli/bench_lane.h"
#include "cli/bench_latency.h"
#include "cli/bench_parties.h"
#include "cli/bench_resident.h"
#include "cli/commands.h"
#include "cuda/device/gpu.h"

namespace tkdc::cli {
namespace {

struct BenchArguments {
  int aes = 128;
  std::size_t cohort = 4096;
  double seconds = 5;
  std::string exchange = "tls";
  BenchSetup setup;
  bool json = false;
};

// The exit status of --backend cuda where no GPU can be used, --exchange device and none included.
constexpr int kNoDevice = 2;

double cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

// One party: runs its lanes, reports.
Result<nlohmann::json> measure(const BenchArguments& arguments, Session& session,
                               const AesBackend& backend) {
  BenchLaneOptions lane_options{static_cast<std::size_t>(arguments.aes) / 8, arguments.cohort,
                                arguments.seconds};
  std::vector<std::unique_ptr<BenchLane>> lanes;
  for (Lane& lane : session.lanes)
    lanes.push_back(std::make_unique<BenchLane>(session, lane, backend, lane_options));
  std::vector<std::thread> threads;
  std::vector<Result<void>> results(lanes.size());
  for (std::size_t k = 0; k < lanes.size(); ++k)
    threads.emplace_back([&, k] { results[k] = lanes[k]->prepare(); });
  for (auto& thread : threads) thread.join();
  threads.clear();
  const double cpu_before = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t k = 0; k < lanes.size(); ++k)
    threads.emplace_back([&, k] {
      if (results[k]) results[k] = lanes[k]->measure();
    });
  for (auto& thread : threads) thread.join();
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double cpu = cpu_seconds() - cpu_before;
  threads.clear();
  for (std::size_t k = 0; k < lanes.size(); ++k)
    threads.emplace_back([&, k] {
      if (results[k]) results[k] = lanes[k]->check();
    });
  for (auto& thread : threads) thread.join();

  nlohmann::json report = {{"blocks", 0}, {"message_bytes", 0}, {"wire_bytes", 0}, {"rounds", 0}};
  for (std::size_t k = 0; k < lanes.size(); ++k) {
    if (!results[k]) return results[k].error();
    const BenchCounts& c = lanes[k]->counts();
    report["blocks"] = report["blocks"].get<std::uint64_t>() + c.blocks;
    report["message_bytes"] = report["message_bytes"].get<std::uint64_t>() + c.message_bytes;
    report["wire_bytes"] = report["wire_bytes"].get<std::uint64_t>() + c.packet_bytes;
    report["rounds"] = c.rounds_per_cohort;
  }
  report["cpu_s"] = cpu;
  report["wall_s"] = wall;
  return report;
}

nlohmann::json summarise(const BenchArguments& arguments, const nlohmann::json& reports) {
  const auto& leader = reports[0];
  const double blocks = leader["blocks"], wall = leader["wall_s"];
  double cpu = 0;
  for (const auto& report : reports) cpu += report["cpu_s"].get<double>();
  return {{"aes", arguments.aes},
          {"mode", "tls"},
          {"blocks_per_s", blocks / wall},
          {"bytes_per_block_per_party", leader["message_bytes"].get<double>() / blocks},
          {"wire_bytes_per_block_per_party", leader["wire_bytes"].get<double>() / blocks},
          {"rounds", leader["rounds"]},
          {"cpu_us_per_block", 1e6 * cpu / blocks},
          {"backend", leader["backend"]},
          {"records", leader["records"]},
          {"zero_shares", leader["zero_shares"]},
          {"security", arguments.setup.security},
          {"lanes", arguments.setup.lanes},
          {"cohort_blocks", arguments.cohort},
          {"seconds", wall},
          {"blocks", leader["blocks"]},
          {"checked", true}};
}

// What --exchange device and none cannot go with; empty: nothing.
std::string hindrance(const BenchArguments& arguments) {
  const std::string mode = "--exchange " + arguments.exchange;
  if (arguments.setup.backend != "cuda") return mode + " needs --backend cuda";
  if (arguments.setup.security != security_name(Security::kSemiHonest))
    return mode +
           " needs --security semi-honest: malicious mode verifies on the CPU, which in this mode "
           "sees no message";
  if (arguments.setup.lanes != 1) return mode + " has one lane";
  return "";
}

// Cohorts that stay on the GPU: three parties, or one alone.
int bench_resident(const BenchArguments& arguments) {
  if (const std::string why = hindrance(arguments); !why.empty()) {
    std::cerr << "tkdc bench: " << why << "\n";
    return 1;
  }
  cuda::GpuOptions options;
  options.allow_shared = true;
  auto gpu = cuda::open_gpu(options);
  if (!gpu) {
    std::cerr << "tkdc bench: " << gpu.error().message << "\n";
    return kNoDevice;
  }
  ResidentBench bench{arguments.aes, arguments.cohort, arguments.seconds,
                      arguments.exchange == "device"};
  if (arguments.setup.zero_shares == "aes-ctr") bench.zero_shares = ZeroGenerator::kAesCtr;
  auto report = measure_resident(**gpu, bench);
  if (!report) {
    std::cerr << "tkdc bench: " << report.error().message << "\n";
    return 1;
  }
  if (arguments.json) {
    std::cout << report->dump() << "\n";
    return 0;
  }
  std::cout << "AES-" << arguments.aes << " on " << (*report)["driver"].get<std::string>() << ", "
            << (bench.exchange ? "three parties in its memory" : "one party's local work")
            << ", semi-honest\n  " << (*report)["blocks_per_s"].get<double>()
            << " blocks/s, cohorts of " << arguments.cohort << " blocks, zero-shares by "
            << zero_generator_name(bench.zero_shares) << "\n";
  return 0;
}

int bench_ctr(const BenchArguments& arguments) {
  if (arguments.exchange != "tls") return bench_resident(arguments);
  const BackendProbe probe = probe_backend(arguments.setup.backend);
  if (!probe.usable) {
    std::cerr << "tkdc bench: " << probe.reason << "\n";
    return arguments.setup.backend == "cuda" ? kNoDevice : 1;
  }
  auto reports = run_three_parties(arguments.setup, [&](Session& session, const AesBackend& used) {
    return measure(arguments, session, used);
  });
  if (!reports) {
    std::cerr << "tkdc bench: " << reports.error().message << "\n";
    return 1;
  }
  nlohmann::json s = summarise(arguments, *reports);
  s["backend_reason"] = probe.reason;
  if (arguments.json) {
    std::cout << s.dump() << "\n";
    return 0;
  }
  std::cout << "AES-" << arguments.aes << " in counter mode, three parties over TLS on loopback, "
            << arguments.setup.security << "\n  " << static_cast<std::uint64_t>(s["blocks_per_s"])
            << " blocks/s, " << s["cpu_us_per_block"] << " us of CPU per block (all parties), "
            << s["bytes_per_block_per_party"] << " message bytes per block and party, "
            << s["rounds"] << " rounds; backend " << s["backend"].get<std::string>()
            << ", zero-shares by " << s["zero_shares"].get<std::string>() << ", records by "
            << s["records"].get<std::string>() << ", " << arguments.setup.lanes << " lanes of "
            << arguments.cohort << " blocks\n"
            << "  " << probe.reason << "\n";
  return 0;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_status) {
  auto arguments = std::make_shared<BenchArguments>();
  CLI::App* bench = app.add_subcommand("bench", "measure the engine on this machine");
  bench->require_subcommand(1);
  CLI::App* ctr = bench->add_subcommand("ctr", "AES counter mode, all three parties on loopback");
  ctr->add_option("--aes", arguments->aes, "key bits")->check(CLI::IsMember({128, 256}));
  ctr->add_option("--lanes", arguments->setup.lanes, "threads per party")->check(CLI::Range(1, 64));
  ctr->add_option("--cohort", arguments->cohort, "blocks in flight per lane")
      ->check(CLI::Range(std::size_t{16}, std::size_t{1} << 20));
  ctr->add_option("--seconds", arguments->seconds, "how long")->check(CLI::Range(0.1, 600.0));
  ctr->add_option("--backend", arguments->setup.backend, "auto, cpu, gfni, avx2, scalar or cuda");
  ctr->add_option(
         "--exchange", arguments->exchange,
         "tls: three processes; device: three parties in a GPU's memory; none: one party's "
         "local work there")
      ->check(CLI::IsMember({"tls", "device", "none"}));
  ctr->add_option("--records", arguments->setup.records, "TLS records by auto or openssl")
      ->check(CLI::IsMember({"auto", "openssl"}));
  ctr->add_option("--zero-shares", arguments->setup.zero_shares, "auto, aes-ctr or chacha20")
      ->check(CLI::IsMember({"auto", "aes-ctr", "chacha20"}));
  ctr->add_option("--security", arguments->setup.security, "malicious or semi-honest")
      ->check(CLI::IsMember({"malicious", "semi-honest"}));
  ctr->add_flag("--json", arguments->json, "one JSON object");
  ctr->callback([arguments, &exit_status] { exit_status = bench_ctr(*arguments); });
  add_bench_latency(*bench, exit_status);
}

}  // namespace tkdc::cli
