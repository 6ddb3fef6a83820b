// SPDX-License-Identifier: Apache-2.0
// Two figures for each of two circuits, the worse of which is the result's: what the shape of a
// circuit costs is part of it. In memory the best slice counts, between processes the best of some
// runs in turn, since the machine may have others; `checked` says that every chain's end, of slow
// runs too, was what OpenSSL computes.
#include "tools/bench/garble.h"

#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/bench/answer.h"
#include "tools/bench/garble_memory.h"
#include "tools/bench/garble_pair.h"

namespace tkdc::bench {
namespace {

struct GarbleArguments {
  double seconds = 2;
  std::string kernel = "auto";
  std::size_t instances = garble::kSideBySide;
  bool json = false;
};

constexpr int kRuns = 3;
// AES calls for an AND.
constexpr double kGarblerCalls = 4, kEvaluatorCalls = 2;

struct PairResult {
  std::string circuit;
  Transport transport;
  PairFigures best;
};

Result<std::vector<PairResult>> measure_pairs(const std::vector<Chain>& chains,
                                              const garble::Kernel& kernel,
                                              const GarbleArguments& arguments) {
  std::vector<PairResult> results;
  for (int run = 0; run < kRuns; ++run) {
    std::size_t at = 0;
    for (const Transport transport : {Transport::kTcp, Transport::kTls})
      for (const Chain& chain : chains) {
        auto figures = measure_garbled_pair(chain, arguments.instances, kernel, transport,
                                            arguments.seconds / kRuns);
        if (!figures) return figures.error();
        if (run == 0) results.push_back({chain.name, transport, *figures});
        PairFigures& best = results[at++].best;
        if (figures->ands_per_s > best.ands_per_s) best = *figures;
      }
  }
  return results;
}

std::string transport_name(Transport transport) {
  return transport == Transport::kTls ? "tls" : "tcp";
}

nlohmann::json memory_json(const MemoryReport& memory, std::size_t instances) {
  nlohmann::json out;
  double garble_ns = 0, evaluate_ns = 0;
  for (const MemoryFigures& one : memory.figures) {
    out["memory"].push_back({{"circuit", one.circuit},
                             {"instances", one.instances},
                             {"garble_ns", one.garble_ns},
                             {"evaluate_ns", one.evaluate_ns},
                             {"ands", one.ands}});
    if (one.instances != instances) continue;
    garble_ns = std::max(garble_ns, one.garble_ns);
    evaluate_ns = std::max(evaluate_ns, one.evaluate_ns);
  }
  const double garble_floor = kGarblerCalls / memory.aes_blocks_per_ns,
               evaluate_floor = kEvaluatorCalls / memory.aes_blocks_per_ns;
  out["garble_ns"] = garble_ns;
  out["evaluate_ns"] = evaluate_ns;
  out["aes_blocks_per_ns"] = memory.aes_blocks_per_ns;
  out["garble_floor_ns"] = garble_floor;
  out["evaluate_floor_ns"] = evaluate_floor;
  out["garble_of_floor"] = garble_floor / garble_ns;
  out["evaluate_of_floor"] = evaluate_floor / evaluate_ns;
  return out;
}

void add_pairs(const std::vector<PairResult>& pairs, nlohmann::json& out) {
  for (const PairResult& one : pairs) {
    const std::string name = transport_name(one.transport), key = "ands_per_s_" + name;
    out["pairs"].push_back({{"circuit", one.circuit},
                            {"transport", name},
                            {"ands_per_s", one.best.ands_per_s},
                            {"octets_per_s", one.best.octets_per_s},
                            {"garbler_cpu_ns", one.best.garbler_cpu_ns},
                            {"evaluator_cpu_ns", one.best.evaluator_cpu_ns},
                            {"ands", one.best.ands}});
    if (!out.contains(key) || out[key].get<double>() > one.best.ands_per_s)
      out[key] = one.best.ands_per_s;
  }
}

Result<nlohmann::json> measure(const GarbleArguments& arguments) {
  auto kernel = garble::find_kernel(arguments.kernel);
  if (!kernel) return kernel.error();
  const std::vector<Chain> chains = make_chains();
  auto pairs = measure_pairs(chains, **kernel, arguments);  // forks: before any thread
  if (!pairs) return pairs.error();
  auto memory = measure_garbling(chains, **kernel, arguments.seconds);
  if (!memory) return memory.error();
  nlohmann::json out = memory_json(*memory, arguments.instances);
  add_pairs(*pairs, out);
  out["kernel"] = (*kernel)->name;
  out["instances"] = arguments.instances;
  out["checked"] = true;
  return out;
}

std::string rounded(double value, int places) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(places) << value;
  return out.str();
}

void print(const nlohmann::json& report) {
  const auto number = [](const nlohmann::json& from, const char* key, int places, double by = 1) {
    return rounded(by * from[key].get<double>(), places);
  };
  std::cout << "Half-gates by the kernel " << report["kernel"].get<std::string>()
            << "; every chain's end was compared with OpenSSL's.\n\n"
            << "In memory, one core, nanoseconds for an AND with the XORs around it:\n";
  for (const auto& one : report["memory"])
    std::cout << "  " << one["circuit"].get<std::string>()
              << ", instances side by side: " << one["instances"] << "   garbled "
              << number(one, "garble_ns", 2) << ", evaluated " << number(one, "evaluate_ns", 2)
              << "\n";
  std::cout << "  AES alone: " << number(report, "aes_blocks_per_ns", 2)
            << " blocks a nanosecond, so no AND is garbled (4 blocks) in less than "
            << number(report, "garble_floor_ns", 2) << " or\n  evaluated (2) in less than "
            << number(report, "evaluate_floor_ns", 2) << "; the slower circuit reaches "
            << number(report, "garble_of_floor", 0, 100) << " and "
            << number(report, "evaluate_of_floor", 0, 100) << " % of that speed\n\n"
            << "Two processes over loopback, " << report["instances"]
            << " side by side, millions of ANDs a second:\n";
  for (const auto& one : report["pairs"])
    std::cout << "  " << one["circuit"].get<std::string>() << " over "
              << (one["transport"] == "tls" ? "TLS" : "plain TCP") << "   "
              << number(one, "ands_per_s", 1, 1e-6) << " (" << number(one, "octets_per_s", 2, 1e-9)
              << " GB/s); CPU for an AND: garbler " << number(one, "garbler_cpu_ns", 1)
              << " ns, evaluator " << number(one, "evaluator_cpu_ns", 1) << " ns\n";
}

}  // namespace

void add_garble(CLI::App& bench, int& exit_status) {
  auto arguments = std::make_shared<GarbleArguments>();
  CLI::App* garble =
      bench.add_subcommand("garble", "garbled circuits: on one core, and between two processes");
  garble->add_option("--seconds", arguments->seconds, "how long each figure is measured")
      ->check(CLI::Range(0.01, 600.0));
  garble->add_option("--kernel", arguments->kernel, "auto, vaes512, aesni or reference");
  garble->add_option("--instances", arguments->instances, "of a circuit, side by side")
      ->check(CLI::IsMember({std::size_t{1}, garble::kSideBySide}));
  garble->add_flag("--json", arguments->json, "one JSON object");
  garble->footer(
      "Example: what the plain implementation takes, one instance, for a quick look:\n"
      "  tkdc bench garble --kernel reference --instances 1 --seconds 0.5");
  garble->callback([arguments, &exit_status] {
    exit_status = answer_bench(measure(*arguments), arguments->json, print);
  });
}

}  // namespace tkdc::bench
