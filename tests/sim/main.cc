// SPDX-License-Identifier: Apache-2.0
// tkdc-sim: a realm in one thread, in virtual time, from a seed. docs/testing.md, "A realm in a
// bottle". Never installed.
//
//   --seeds N [--from S] [--seconds S] [--plan FILE]
//       seeds in a row; ends at the first that fails, and writes its shrunk plan
//   --seed S [--timeline]                one of them
//   --replay FILE [--timeline]           a plan
//   --seed S --shrink --plan FILE        writes its plan, shrunk to what still fails
//   --replay FILE --digest               the digests of a plan's course, and of what servers sent
//
// Exit status 1: an invariant fell.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "sim/coverage.h"
#include "sim/run.h"
#include "sim/world.h"

namespace tkdc::sim {
namespace {

std::string program = "tkdc-sim";  // as it was called

constexpr std::uint64_t kKeysEvery = 16;  // seeds: one is run with other keys, too

struct Options {
  std::uint64_t seeds = 0, from = 1, seed = 0, keys = 0;
  double seconds = 0;
  std::string replay, plan, protocol, backend;
  bool timeline = false, shrink = false, digest = false, quiet = false;
};

struct Totals {
  std::uint64_t runs = 0, operations = 0, answered = 0, logins = 0;
  std::uint64_t least_operations = UINT64_MAX;
  std::int64_t most_memory = 0;
  std::map<std::string, std::uint64_t> injected, reached;

  void add(const Outcome& one) {
    ++runs;
    operations += one.operations;
    answered += one.answered;
    logins += one.logins;
    least_operations = std::min(least_operations, one.operations);
    most_memory = std::max(most_memory, one.most_memory);
    for (const auto& [what, count] : one.injected) injected[what] += count;
    for (const auto& [what, count] : one.reached) reached[what] += count;
  }
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

void print(const char* title, const std::map<std::string, std::uint64_t>& counts) {
  std::printf("%s\n", title);
  for (const auto& [what, count] : counts)
    std::printf("  %9llu  %s\n", static_cast<unsigned long long>(count), what.c_str());
}

void print_states(const std::map<std::string, std::uint64_t>& reached) {
  std::map<std::string, std::uint64_t> counts(reached);
  for (const char* state : states()) counts.try_emplace(state, 0);
  print("states", counts);
  std::printf("%zu of %zu states reached\n", reached.size(), counts.size());
}

bool write_plan(const std::string& path, const Plan& plan, const Outcome& out) {
  std::ofstream file(path);
  if (!out.invariant.empty()) file << "# " << out.invariant << ": " << out.how << "\n";
  file << encode(plan);
  file.close();
  if (!file) std::fprintf(stderr, "tkdc-sim: %s cannot be written\n", path.c_str());
  return static_cast<bool>(file);
}

int tell(const Plan& plan, const Outcome& out, const std::string& replay) {
  if (out.invariant.empty()) {
    std::printf(
        "seed %llu: all invariants held; %llu operations, %llu answered, %llu logins, "
        "digest %s\n",
        static_cast<unsigned long long>(plan.seed), static_cast<unsigned long long>(out.operations),
        static_cast<unsigned long long>(out.answered), static_cast<unsigned long long>(out.logins),
        out.digest.c_str());
    return 0;
  }
  std::printf("seed %llu: INVARIANT %s: %s\n  replay: %s %s --timeline\n",
              static_cast<unsigned long long>(plan.seed), out.invariant.c_str(), out.how.c_str(),
              program.c_str(), replay.c_str());
  std::fflush(stdout);
  return 1;
}

// The seed is told before it is shrunk, which takes a run for each fault, about.
int failed(const Options& options, Plan plan, const Outcome& out) {
  std::string replay = "--seed " + std::to_string(plan.seed);
  if (!options.protocol.empty()) replay += " --protocol " + options.protocol;
  const int status = tell(plan, out, replay);
  if (options.plan.empty()) return status;
  const std::size_t faults = plan.faults.size();
  plan = shrink(std::move(plan), out.invariant);
  if (!write_plan(options.plan, plan, out)) return 2;
  std::printf("  shrunk from %zu faults to %zu: %s --replay %s --timeline\n", faults,
              plan.faults.size(), program.c_str(), options.plan.c_str());
  return status;
}

// What honest servers send, how much and when depends on no key and on no plaintext.
void compare_keys(Plan plan, Outcome& out) {
  constexpr std::uint64_t kOthers = 4711;
  plan.keys ^= kOthers;
  const Outcome other = run(plan, false);
  if (other.digest == out.digest) return;
  out.invariant = "keys";
  out.how =
      "with other keys and plaintexts the course is another: compare --timeline with that of "
      "--keys " +
      std::to_string(plan.keys);
}

int run_seeds(const Options& options) {
  Totals totals;
  const auto began = std::chrono::steady_clock::now();
  const double cpu_before = cpu_seconds();
  const auto passed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  double told = 0;
  for (std::uint64_t seed = options.from;; ++seed) {
    if (options.seeds != 0 && seed >= options.from + options.seeds) break;
    if (options.seconds > 0 && passed() > options.seconds) break;
    Plan plan = plan_of(seed, options.protocol);
    Outcome out = run(plan, false);
    totals.add(out);
    if (out.invariant.empty() && seed % kKeysEvery == 0) compare_keys(plan, out);
    if (!out.invariant.empty()) return failed(options, std::move(plan), out);
    if (!options.quiet && passed() - told > 10) {
      told = passed();
      std::printf("%llu seeds, %.0f a minute of CPU\n",
                  static_cast<unsigned long long>(totals.runs),
                  60 * static_cast<double>(totals.runs) / (cpu_seconds() - cpu_before));
      std::fflush(stdout);
    }
  }
  print("faults", totals.injected);
  print_states(totals.reached);
  std::printf(
      "%llu seeds, %.1f a minute of CPU; %llu operations, %llu answered, %llu logins; at "
      "least %llu operations in each; a server had %lld KiB at most\nsimulate: ok\n",
      static_cast<unsigned long long>(totals.runs),
      60 * static_cast<double>(totals.runs) / (cpu_seconds() - cpu_before),
      static_cast<unsigned long long>(totals.operations),
      static_cast<unsigned long long>(totals.answered),
      static_cast<unsigned long long>(totals.logins),
      static_cast<unsigned long long>(totals.least_operations),
      static_cast<long long>(totals.most_memory / 1024));
  return 0;
}

int run_one(const Options& options) {
  Plan plan = plan_of(options.seed, options.protocol);
  std::string replay = "--seed " + std::to_string(options.seed);
  if (!options.replay.empty()) {
    std::ifstream in(options.replay);
    std::ostringstream text;
    text << in.rdbuf();
    auto read = decode_plan(text.str());
    if (!in || !read.ok()) {
      std::fprintf(stderr, "tkdc-sim: %s: %s\n", options.replay.c_str(),
                   in ? read.error().message.c_str() : "cannot be read");
      return 2;
    }
    plan = std::move(*read);
    replay = "--replay " + options.replay;
  }
  if (!options.protocol.empty()) plan.protocol = options.protocol;
  if (!options.backend.empty()) plan.backend = options.backend;
  plan.keys = options.keys != 0 ? options.keys : plan.keys;
  Outcome out = run(plan, options.timeline);
  if (options.digest) {
    std::printf("%s\n%s\n", out.digest.c_str(), out.octets.c_str());
    return out.invariant.empty() ? 0 : 1;
  }
  if (options.shrink && !out.invariant.empty()) plan = shrink(std::move(plan), out.invariant);
  if (!options.plan.empty()) {
    if (!write_plan(options.plan, plan, out)) return 2;
    replay = "--replay " + options.plan;
  }
  return tell(plan, out, replay);
}

}  // namespace
}  // namespace tkdc::sim

int main(int argc, char** argv) {
  using namespace tkdc::sim;
  if (argc > 0) program = argv[0];
  Options options;
  CLI::App app("a realm in one thread, in virtual time, from a seed");
  app.add_option("--seeds", options.seeds, "so many seeds in a row");
  app.add_option("--seconds", options.seconds, "seeds in a row, for so long");
  app.add_option("--from", options.from, "the first of them");
  app.add_option("--seed", options.seed, "one seed");
  app.add_option("--keys", options.keys, "other keys and plaintexts");
  app.add_option("--replay", options.replay, "a plan in a file");
  app.add_option("--plan", options.plan, "where the plan is written");
  app.add_option("--protocol", options.protocol, "instead of the plan's");
  app.add_option("--backend", options.backend, "instead of the plan's");
  app.add_flag("--timeline", options.timeline, "what happens, as it does");
  app.add_flag("--shrink", options.shrink, "the fewest faults that fail");
  app.add_flag("--digest", options.digest,
               "print digests only: of the course, and of what servers sent");
  app.add_flag("--quiet", options.quiet, "no progress");
  CLI11_PARSE(app, argc, argv);
  take_the_place_of_the_machine();
  return options.seeds != 0 || options.seconds > 0 ? run_seeds(options) : run_one(options);
}
