// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/tls.h"

#include <chrono>
#include <thread>

#include "tools/bench/cpu_time.h"
#include "tools/bench/lane.h"

namespace tkdc::bench {
namespace {

// One party: runs its lanes, reports.
Result<nlohmann::json> measure(const TlsBench& bench, Session& session,
                               const Rep3Backend& backend) {
  std::vector<std::unique_ptr<BenchLane>> lanes;
  for (LaneLink& lane : session.lanes)
    lanes.push_back(std::make_unique<BenchLane>(session, lane, backend, bench.workload));
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
      if (results[k]) results[k] = lanes[k]->measure(bench.seconds);
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

  nlohmann::json report = {{"units", 0}, {"message_bytes", 0}, {"wire_bytes", 0}, {"rounds", 0}};
  for (std::size_t k = 0; k < lanes.size(); ++k) {
    if (!results[k]) return results[k].error();
    const BenchCounts& c = lanes[k]->counts();
    report["units"] = report["units"].get<std::uint64_t>() + c.units;
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
  const double units = leader["units"], wall = leader["wall_s"];
  double cpu = 0;
  for (const auto& report : reports) cpu += report["cpu_s"].get<double>();
  const std::string& unit = bench.unit;
  return {{"mode", "tls"},
          {unit + "s_per_s", units / wall},
          {"bytes_per_" + unit + "_per_party", leader["message_bytes"].get<double>() / units},
          {"wire_bytes_per_" + unit + "_per_party", leader["wire_bytes"].get<double>() / units},
          {"rounds", leader["rounds"]},
          {"cpu_us_per_" + unit, 1e6 * cpu / units},
          {"backend", leader["backend"]},
          {"records", leader["records"]},
          {"zero_shares", leader["zero_shares"]},
          {"security", bench.setup.security},
          {"lanes", bench.setup.lanes},
          {"cohort_" + unit + "s", bench.cohort},
          {"seconds", wall},
          {unit + "s", leader["units"]},
          {"checked", true}};
}

}  // namespace

Result<nlohmann::json> measure_tls(const TlsBench& bench) {
  auto reports = run_three_parties(bench.setup, [&](Session& session, const Rep3Backend& used) {
    return measure(bench, session, used);
  });
  if (!reports) return reports.error();
  return summarise(bench, *reports);
}

}  // namespace tkdc::bench
