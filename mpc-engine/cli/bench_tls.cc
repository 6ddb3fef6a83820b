// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_tls.h"

#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "cli/bench_lane.h"

namespace tkdc::cli {
namespace {

double cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

// One party: runs its lanes, reports.
Result<nlohmann::json> measure(const TlsBench& bench, Session& session, const AesBackend& backend) {
  BenchLaneOptions lane_options{static_cast<std::size_t>(bench.aes) / 8, bench.cohort_blocks,
                                bench.seconds};
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

nlohmann::json summarise(const TlsBench& bench, const nlohmann::json& reports) {
  const auto& leader = reports[0];
  const double blocks = leader["blocks"], wall = leader["wall_s"];
  double cpu = 0;
  for (const auto& report : reports) cpu += report["cpu_s"].get<double>();
  return {{"aes", bench.aes},
          {"mode", "tls"},
          {"blocks_per_s", blocks / wall},
          {"bytes_per_block_per_party", leader["message_bytes"].get<double>() / blocks},
          {"wire_bytes_per_block_per_party", leader["wire_bytes"].get<double>() / blocks},
          {"rounds", leader["rounds"]},
          {"cpu_us_per_block", 1e6 * cpu / blocks},
          {"backend", leader["backend"]},
          {"records", leader["records"]},
          {"zero_shares", leader["zero_shares"]},
          {"security", bench.setup.security},
          {"lanes", bench.setup.lanes},
          {"cohort_blocks", bench.cohort_blocks},
          {"seconds", wall},
          {"blocks", leader["blocks"]},
          {"checked", true}};
}

}  // namespace

Result<nlohmann::json> measure_tls(const TlsBench& bench) {
  auto reports = run_three_parties(bench.setup, [&](Session& session, const AesBackend& used) {
    return measure(bench, session, used);
  });
  if (!reports) return reports.error();
  return summarise(bench, *reports);
}

}  // namespace tkdc::cli
