// SPDX-License-Identifier: Apache-2.0
// What tables cost, ahead and online; beside it the floors: random bits by this machine's rate of
// OTs, and a read of memory that no cache has.
#include "tools/bench/lut.h"

#include <malloc.h>
#include <sys/sysinfo.h>

#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "lut/string_product.h"
#include "tools/bench/answer.h"
#include "tools/bench/lut_pair.h"

namespace tkdc::bench {
namespace {

struct LutArguments {
  std::string mode = "AES-LT", security = "malicious";
  unsigned parties = 2;
  std::size_t threads = 1, blocks = 10'240, batch = 256, singles = 200;
  bool json = false, constants = false;
};

// Batches that do not fit into memory would be found out by the kernel, in the middle.
Result<void> fits(const LutRun& run) {
  struct sysinfo machine {};
  if (sysinfo(&machine) != 0) return {};
  const double there = static_cast<double>(machine.freeram + machine.bufferram) * machine.mem_unit,
               needed = static_cast<double>(run.parties) *
                        static_cast<double>(run.threads * run.batch * run.mode.octets_while_making);
  if (needed <= there) return {};
  const auto mib = [](double octets) { return std::to_string(std::lround(octets / (1 << 20))); };
  return fail("bench: batches of " + std::to_string(run.batch) + " blocks in " +
              std::to_string(run.threads) + " threads take " + mib(needed) +
              " MiB at all parties, and " + mib(there) +
              " MiB are free: take fewer by --batch or --threads");
}

Result<nlohmann::json> measure(const LutArguments& arguments) {
  auto mode = find_lut_mode(arguments.mode, arguments.security == "malicious", arguments.parties);
  if (!mode) return mode.error();
  LutRun run{*mode};
  run.parties = arguments.parties;
  run.threads = arguments.threads;
  run.blocks = (arguments.blocks + run.threads - 1) / run.threads;
  run.batch = std::min(arguments.batch, run.blocks);
  run.unexpanded = mode->expands ? run.batch : 0;
  run.singles = arguments.singles;
  run.progress = !arguments.json;
  if (auto good = fits(run); !good) return good.error();
  // What is freed is used again: a party that prepares tables all night has its memory.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  auto figures = measure_lut(run);
  if (!figures) return figures.error();
  nlohmann::json out = {{"mode", arguments.mode},
                        {"security", arguments.security},
                        {"parties", arguments.parties},
                        {"threads", run.threads},
                        {"blocks", figures->blocks},
                        {"batch", run.batch},
                        {"setup_ms", figures->setup_ms},
                        {"ahead_blocks_per_s", figures->ahead_per_s},
                        {"ahead_octets_per_block", figures->ahead_octets},
                        {"online_blocks_per_s", figures->online_per_s},
                        {"online_octets_per_block", figures->online_octets},
                        {"rounds", mode->rounds},
                        {"latency_ms", figures->latency_ms},
                        {"memory_octets_per_block", figures->kept_octets},
                        {"statistical_security_bits", std::abs(mode->log2_failure)},
                        {"checked", true}};
  const bool whole = figures->blocks == run.blocks * run.threads;
  if (!whole) {
    out["stopped_of_blocks"] = run.blocks * run.threads;
    out.erase("latency_ms");
  }
  if (whole && run.unexpanded > 0)
    out["online_unexpanded_blocks_per_s"] = figures->unexpanded_per_s;
  if (run.threads == 1) {
    out["ahead_cpu_us_per_block"] = figures->ahead_cpu_us;
    out["online_cpu_us_per_block"] = figures->online_cpu_us;
  }
  return out;
}

void print_lut(const nlohmann::json& report) {
  std::cout << report["mode"].get<std::string>() << ", " << report["security"].get<std::string>()
            << ", " << report["parties"] << " parties, " << report["threads"]
            << " threads, over TLS on loopback; " << report["blocks"]
            << " blocks, of each batch two compared with OpenSSL.\n";
  if (report.contains("stopped_of_blocks"))
    std::cout << "It was stopped, as it was asked to, before all " << report["stopped_of_blocks"]
              << " blocks were there.\n";
  std::cout << std::fixed << std::setprecision(1);
  const auto line = [&](const char* name, const char* what) {
    if (report.contains(name))
      std::cout << "  " << std::left << std::setw(34) << what << std::right << std::setw(12)
                << report[name].get<double>() << "\n";
  };
  line("ahead_blocks_per_s", "blocks a second ahead");
  line("ahead_octets_per_block", "octets a block ahead");
  line("ahead_cpu_us_per_block", "CPU a block ahead, µs");
  line("online_blocks_per_s", "blocks a second online");
  line("online_unexpanded_blocks_per_s", "the same, tables not expanded");
  line("online_octets_per_block", "octets a block online");
  line("online_cpu_us_per_block", "CPU a block online, µs");
  line("rounds", "rounds of openings");
  std::cout << std::setprecision(3);
  line("latency_ms", "one block, ms");
  std::cout << std::setprecision(0);
  line("memory_octets_per_block", "octets kept for a block, all");
  std::cout << std::setprecision(1);
  line("statistical_security_bits", "statistical security, bits");
}

void print_constants() {
  std::cout << "A changed party that guesses t of the n B bits of a batch gets through with 2^-t,\n"
               "and has a whole bucket with at most\n\n"
               "    2^-t n C(t, B) / C(n B, B)     (docs/protocols/24-lookup-tables.md)\n\n"
               "A batch of products has at most 2^"
            << lut::kWantedBound
            << " over all t. A wrong guess ends the session, and an\n"
               "attack takes "
            << lut::kLeastBucket << " guesses: all batches of a session have at most 2^"
            << lut::kSessionBound
            << ".\n"
               "The cheapest buckets:\n\n"
            << "   products  made  bucket  log2 of the bound\n"
            << std::fixed << std::setprecision(1);
  for (const std::size_t products : {1, 160, 1'000, 5'600, 10'240, 20'480, 262'144}) {
    const lut::Plan plan = lut::plan_products(products);
    std::cout << std::setw(11) << products << std::setw(8) << plan.products << std::setw(6)
              << plan.bucket << std::setw(12) << plan.bound << "\n";
  }
}

}  // namespace

void add_lut(CLI::App& bench, int& exit_status) {
  auto arguments = std::make_shared<LutArguments>();
  CLI::App* command =
      bench.add_subcommand("lut", "block ciphers by lookup tables, two to five processes");
  command->add_option("--mode", arguments->mode, "AES-LT, AES-BD, AES-RP, AES-T16, 3DES-LT, …")
      ->check(CLI::IsMember(lut_mode_names()));
  command->add_option("--security", arguments->security, "malicious or semi-honest")
      ->check(CLI::IsMember({"malicious", "semi-honest"}));
  command->add_option("--parties", arguments->parties, "2 to 5; more than two: malicious")
      ->check(CLI::Range(2, 5));
  command->add_option("--threads", arguments->threads, "of each party, a session each")
      ->check(CLI::Range(1, 64));
  command->add_option("--blocks", arguments->blocks, "of all threads together")
      ->check(CLI::Range(1, 1 << 24));
  command
      ->add_option("--batch", arguments->batch, "blocks of a thread whose tables are there at once")
      ->check(CLI::Range(1, 1 << 16));
  command->add_option("--singles", arguments->singles, "blocks that are timed one by one")
      ->check(CLI::Range(0, 4096));
  command->add_flag("--constants", arguments->constants,
                    "print buckets and bounds, measure nothing");
  command->add_flag("--json", arguments->json, "one JSON object");
  command->footer("Example: the semi-honest mode:\n  tkdc bench lut --security semi-honest");
  command->callback([arguments, &exit_status] {
    if (arguments->constants) return print_constants();
    exit_status = answer_bench(measure(*arguments), arguments->json, print_lut);
  });
}

}  // namespace tkdc::bench
