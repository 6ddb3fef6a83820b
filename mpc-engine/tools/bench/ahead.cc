// SPDX-License-Identifier: Apache-2.0
// Lookup tables by steps, and circuits beside them, between two processes over TLS.
#include "tools/bench/ahead.h"

#include <malloc.h>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "service/pair/pair_reserve.h"
#include "service/pair/pair_tables.h"
#include "tools/bench/answer.h"
#include "tools/bench/stopwatch.h"
#include "tools/bench/stream_pair.h"

namespace tkdc::bench {
namespace {

constexpr const char* kTicketCircuit =
    "around-seal18:312";  // of a ticket-granting ticket with a PAC

struct AheadArguments {
  std::size_t steps = 4, circuits = 2;
  bool json = false;
};

// One server's part. Each phase begins when both are there.
class AheadSide {
 public:
  AheadSide(const AheadArguments& arguments, pair::Session& session)
      : arguments_(arguments), session_(session) {}

  Result<nlohmann::json> measure() {
    PairTables tables(session_,
                      4 * (arguments_.steps + 1) * PairTables::kStep * PairTables::kBytesOfOne);
    auto done = phase("tables", [&]() -> Result<void> {
      for (std::size_t k = 0; k < arguments_.steps; ++k)
        if (auto made = tables.step(PairTables::Way::kForward); !made) return made;
      return {};
    });
    if (done) done = circuits();
    if (!done) return done.error();
    return std::move(report_);
  }

 private:
  Result<void> circuits() {
    PairCircuits known;
    auto kind = known.get(answer_kind(kTicketCircuit));
    if (!kind) return kind.error();
    report_["ands"] = (*kind)->circuit.ands * arguments_.circuits;
    PairReserve reserve(session_, (arguments_.circuits + 1) * (*kind)->prepared_bytes());
    return phase("circuits", [&]() -> Result<void> {
      while (reserve.ready() < arguments_.circuits)
        if (auto made = reserve.step(*kind); !made) return made;
      return {};
    });
  }

  template <class Body>
  Result<void> phase(const char* name, Body body) {
    ot::Channel& channel = session_.channel();
    std::uint8_t octet = 0;
    auto met = channel.write({&octet, 1});
    if (met) met = channel.read({&octet, 1});
    if (!met) return met;
    const std::uint64_t before = channel.sent();
    const Stopwatch watch;
    auto done = body();
    report_[name] = {
        {"wall_s", watch.wall_s()}, {"cpu_s", watch.cpu_s()}, {"octets", channel.sent() - before}};
    return done;
  }

  const AheadArguments& arguments_;
  pair::Session& session_;
  nlohmann::json report_;
};

Result<nlohmann::json> run_side(const AheadArguments& arguments, pair::Side side, BulkWriter& out,
                                BulkReader& in) {
  ot::Channel channel(out, in, kPatienceMs);
  const Bytes context = {'a', 'h', 'e', 'a', 'd'};
  auto session = pair::Session::create(channel, side, context);
  if (!session) return session.error();
  return finished(AheadSide(arguments, **session).measure(), out, in);
}

// Of both servers: `much` of it each second, and CPU and octets of one.
void add_figures(nlohmann::json& out, const nlohmann::json& report, const char* phase,
                 const std::string& name, double much) {
  const auto of = [&](const char* side, const char* what) {
    return report[side][phase][what].get<double>();
  };
  const auto both = [&](const char* what) { return of("first", what) + of("second", what); };
  out[name] = much;
  out[name + "_per_s"] = much / std::max(of("first", "wall_s"), of("second", "wall_s"));
  out[name + "_cpu_us"] = 1e6 * both("cpu_s") / much;
  out[name + "_octets"] = both("octets") / much;
}

Result<nlohmann::json> measure(const AheadArguments& arguments) {
  // What is freed is used again, as by a server that prepares all night.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  StreamPair streams;
  streams.options.ring_bytes = std::size_t{2} << 20;
  const auto end = [&](pair::Side side) -> DuplexEnd {
    return [&arguments, side](BulkWriter& out, BulkReader& in) {
      return run_side(arguments, side, out, in);
    };
  };
  auto report = run_duplex_pair(streams, end(pair::Side::kGarbler), end(pair::Side::kEvaluator));
  if (!report) return report.error();
  nlohmann::json out;
  add_figures(out, *report, "tables", "tables",
              static_cast<double>(arguments.steps * PairTables::kStep));
  add_figures(out, *report, "circuits", "ands", (*report)["first"]["ands"].get<double>());
  return out;
}

void print_ahead(const nlohmann::json& report) {
  std::cout << "Two servers on this machine, over TLS on loopback, by the steps of a server with "
               "nothing else to do.\n"
            << std::fixed << std::setprecision(1);
  for (const std::string name : {"tables", "ands"})
    std::cout << "  " << std::left << std::setw(8) << (name == "ands" ? "ANDs" : name) << std::right
              << std::setw(12) << report[name + "_per_s"].get<double>() << " a second "
              << std::setw(8) << report[name + "_cpu_us"].get<double>() << " µs of CPU, both "
              << std::setw(9) << report[name + "_octets"].get<double>() << " octets, both\n";
  std::cout << "As options of `tkdc tables plan`: --tables-per-s "
            << std::lround(report["tables_per_s"].get<double>()) << " --ands-per-s "
            << std::lround(report["ands_per_s"].get<double>()) << "\n";
}

}  // namespace

void add_ahead(CLI::App& bench, int& exit_status) {
  auto arguments = std::make_shared<AheadArguments>();
  CLI::App* command = bench.add_subcommand(
      "ahead", "what two servers make ahead for tickets: lookup tables and circuits");
  command->add_option("--steps", arguments->steps, "of lookup tables, 4,096 each")
      ->check(CLI::Range(1, 256));
  command->add_option("--circuits", arguments->circuits, "that stand beside tables")
      ->check(CLI::Range(1, 8));
  command->add_flag("--json", arguments->json, "one JSON object");
  command->footer(
      "Example: at more length, on a machine that does other things, too:\n"
      "  tkdc bench ahead --steps 16 --circuits 8");
  command->callback([arguments, &exit_status] {
    exit_status = answer_bench(measure(*arguments), arguments->json, print_ahead);
  });
}

}  // namespace tkdc::bench
