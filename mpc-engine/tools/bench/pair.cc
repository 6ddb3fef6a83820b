// SPDX-License-Identifier: Apache-2.0
// Three things: what a session costs, what one block alone costs, and what one of many does. On a
// machine that has others CPU time and octets say more than wall time, so both are given.
#include "tools/bench/pair.h"

#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "pair/buckets.h"
#include "tools/bench/aes_pair.h"
#include "tools/bench/device.h"

namespace tkdc::bench {
namespace {

struct PairArguments {
  PairRun run;
  std::string transport = "tls";
  std::size_t bound_of = 0;
  bool json = false;
};

nlohmann::json pair_json(const PhaseFigures& phase, double each) {
  return {{"wall_ms", 1e3 * phase.wall_s / each},
          {"cpu_ms", 1e3 * phase.cpu_s / each},
          {"octets", static_cast<double>(phase.octets) / each}};
}

nlohmann::json pair_json(const PairReport& report, const PairArguments& arguments) {
  const double blocks = static_cast<double>(report.blocks),
               ands = blocks * static_cast<double>(report.ands);
  nlohmann::json out;
  out["circuit"] = "aes128";
  out["ands"] = report.ands;
  out["transport"] = arguments.transport;
  out["k"] = arguments.run.k;
  out["setup"] = pair_json(report.setup, 1);
  out["one"] = {{"independent", pair_json(report.one_independent, 1)},
                {"dependent", pair_json(report.one_dependent, 1)},
                {"online", pair_json(report.one_online, 1)}};
  out["blocks"] = report.blocks;
  out["each"] = {{"independent", pair_json(report.independent, blocks)},
                 {"dependent", pair_json(report.dependent, blocks)},
                 {"online", pair_json(report.online, blocks)}};
  out["and_ahead_cpu_us"] = 1e6 * (report.independent.cpu_s + report.dependent.cpu_s) / ands;
  out["and_ahead_octets"] =
      static_cast<double>(report.independent.octets + report.dependent.octets) / ands;
  out["and_online_cpu_us"] = 1e6 * report.online.cpu_s / ands;
  out["checked"] = true;
  return out;
}

void print_phase(const std::string& what, const nlohmann::json& phase) {
  std::cout << "  " << what << ": " << phase["wall_ms"].get<double>() << " ms, CPU of both "
            << phase["cpu_ms"].get<double>() << " ms, " << phase["octets"].get<double>()
            << " octets\n";
}

void print_pair(const nlohmann::json& report) {
  std::cout << std::fixed << std::setprecision(2) << "AES-128 of a key and a block, "
            << report["ands"] << " ANDs, two processes over "
            << report["transport"].get<std::string>()
            << "; each block was compared with OpenSSL's.\n";
  print_phase("setup, once a session", report["setup"]);
  for (const char* phase : {"independent", "dependent", "online"})
    print_phase("one block alone, " + std::string(phase), report["one"][phase]);
  for (const char* phase : {"independent", "dependent", "online"})
    print_phase("one of " + std::to_string(report["blocks"].get<std::size_t>()) + ", " + phase,
                report["each"][phase]);
  std::cout << "  an AND ahead: " << report["and_ahead_cpu_us"].get<double>()
            << " us of CPU of both, " << report["and_ahead_octets"].get<double>()
            << " octets; online " << report["and_online_cpu_us"].get<double>() << " us\n";
}

int print_bound(const PairArguments& arguments) {
  const pair::BucketPlan plan = pair::plan_buckets(arguments.bound_of);
  if (arguments.json)
    std::cout << nlohmann::json{{"ands", plan.ands},
                                {"bucket", plan.bucket},
                                {"bound_log2", plan.bound}}
              << "\n";
  else
    std::cout << "A batch of " << arguments.bound_of << " ANDs is made of " << plan.ands
              << " in buckets of " << plan.bucket
              << "; a changed party learns a value with probability at most 2^" << std::fixed
              << std::setprecision(1) << plan.bound << ".\n";
  return 0;
}

int bench_pair(PairArguments& arguments) {
  if (arguments.bound_of > 0) return print_bound(arguments);
  arguments.run.transport = arguments.transport == "tls" ? Transport::kTls : Transport::kTcp;
  auto report = measure_pair(arguments.run);
  if (!report) return refuse_bench(report.error().message);
  const nlohmann::json out = pair_json(*report, arguments);
  if (arguments.json)
    std::cout << out.dump() << "\n";
  else
    print_pair(out);
  return 0;
}

}  // namespace

void add_pair(CLI::App& bench, int& exit_status) {
  auto arguments = std::make_shared<PairArguments>();
  CLI::App* command = bench.add_subcommand("pair", "authenticated garbling between two processes");
  command->add_option("--blocks", arguments->run.blocks, "AES blocks, by batches of 2^18 ANDs")
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--k", arguments->run.k, "columns of a chunk of the OT extension")
      ->check(CLI::Range(ot::kLeastLevels, ot::kMostLevels));
  command->add_option("--transport", arguments->transport, "tcp or tls")
      ->check(CLI::IsMember({"tcp", "tls"}));
  command
      ->add_option("--bound", arguments->bound_of,
                   "measure nothing: buckets and bound of a batch of so many ANDs")
      ->check(CLI::Range(1, 1 << 30));
  command->add_flag("--json", arguments->json, "one JSON object");
  command->footer("Example: what a batch of 1,000 ANDs may leak:\n  tkdc bench pair --bound 1000");
  command->callback([arguments, &exit_status] { exit_status = bench_pair(*arguments); });
}

}  // namespace tkdc::bench
