// SPDX-License-Identifier: Apache-2.0
// What an operation of two servers costs: ahead, where nobody waits, and online.
#include "tools/bench/pair.h"

#include <malloc.h>

#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tools/bench/answer.h"
#include "tools/bench/pair_jobs.h"

namespace tkdc::bench {
namespace {

constexpr int kMessages = 5;  // one way, one after the other, online

struct PairArguments {
  std::vector<std::string> operations = {"aes128", "seal17:249", "seal18:249", "open17:277",
                                         "open18:277"};
  std::size_t jobs = 4, pool_blocks = 4096;
  bool json = false;
};

nlohmann::json json_of(const PairPhase& phase) {
  return {{"wall_ms", phase.wall_ms}, {"cpu_ms", phase.cpu_ms}, {"octets", phase.octets}};
}

Result<nlohmann::json> measure(const PairArguments& arguments) {
  // What is freed is used again, as by a server that prepares all night.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  nlohmann::json out;
  for (const std::string& operation : arguments.operations) {
    auto figures = measure_pair({operation, arguments.jobs, arguments.pool_blocks});
    if (!figures) return figures.error();
    out["operations"].push_back({{"operation", operation},
                                 {"ands", figures->ands},
                                 {"record_bits", figures->record_bits},
                                 {"dealt_octets", figures->dealt_bytes},
                                 {"setup", json_of(figures->setup)},
                                 {"pool", json_of(figures->pool)},
                                 {"bridge", json_of(figures->bridge)},
                                 {"ahead", json_of(figures->ahead)},
                                 {"online", json_of(figures->online)},
                                 {"latency_ms", figures->latency_ms},
                                 {"one_way_messages", kMessages}});
  }
  out["jobs"] = arguments.jobs;
  out["pool_blocks"] = arguments.pool_blocks;
  out["checked"] = true;
  return out;
}

void print(const nlohmann::json& report) {
  std::cout
      << "Two servers, malicious, over TLS on loopback; " << report["jobs"]
      << " jobs each with a stored key and an agent's input,\nall compared with the circuit in "
         "the clear; the pool has "
      << report["pool_blocks"] << " blocks. Online " << kMessages
      << " messages, one after the other.\n";
  for (const auto& one : report["operations"]) {
    std::cout << one["operation"].get<std::string>() << ": " << one["ands"]
              << " ANDs; to each server the agent deals " << one["dealt_octets"] << " octets\n"
              << std::fixed << std::setprecision(2);
    for (const char* phase : {"setup", "pool", "bridge", "ahead", "online"})
      std::cout << "  " << std::left << std::setw(8) << phase << std::right << std::setw(10)
                << one[phase]["wall_ms"].get<double>() << " ms " << std::setw(10)
                << one[phase]["cpu_ms"].get<double>() << " ms of CPU, both " << std::setw(12)
                << std::lround(one[phase]["octets"].get<double>()) << " octets, both\n";
  }
}

}  // namespace

void add_pair(CLI::App& bench, int& exit_status) {
  auto arguments = std::make_shared<PairArguments>();
  CLI::App* command =
      bench.add_subcommand("pair", "operations of two servers with a stored key, two processes");
  command->add_option("--operation", arguments->operations,
                      "a circuit of the catalogue, with its size (tkdc circuit table)");
  command->add_option("--jobs", arguments->jobs, "of each operation")->check(CLI::Range(1, 10'000));
  command->add_option("--pool-blocks", arguments->pool_blocks, "blocks of 128 bits of the pool")
      ->check(CLI::Range(64, 1 << 20));
  command->add_flag("--json", arguments->json, "one JSON object");
  command->footer("Example: a ticket of enctype 18:\n  tkdc bench pair --operation seal18:249");
  command->callback([arguments, &exit_status] {
    exit_status = answer_bench(measure(*arguments), arguments->json, print);
  });
}

}  // namespace tkdc::bench
