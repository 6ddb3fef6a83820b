// SPDX-License-Identifier: Apache-2.0
// `tkdc garbling plan`: which reserve of garbled circuits so many logins in so many minutes need,
// and what a configuration carries. From the layouts of the circuits themselves.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "service/garbled/whole.h"
#include "service/server/config.h"
#include "session/session.h"
#include "tools/cli/commands.h"
#include "tools/cli/planned_circuit.h"
#include "tools/cli/stopped_store.h"

namespace tkdc::cli {
namespace {

// What a login asks for, and a service's ticket after it: preauthentication by a password, a PAC,
// enctype 18, names of some ten letters. `tkdc status --json` has a realm's own kinds.
constexpr const char* kLogin[] = {
    // the password, the ticket-granting ticket and its signatures, the reply
    "open18:56", "gcm-stream256:24", "seal18:253",
    // that ticket and its signatures, the service's and its own
    "gcm-open256:24", "gcm-verify256:12", "seal18:348", "mac-sha1:276", "aes256=4"};

constexpr double kMib = 1 << 20, kBitsPerMbit = 1e6;
constexpr int kServers = 3;

struct PlanOptions {
  std::uint64_t logins = 0;
  double minutes = 1;
  std::string config;
  std::vector<std::string> circuits;
  bool json = false;
};

struct Planned {
  std::string circuit;
  std::uint64_t times = 1;      // in a login
  std::uint64_t kept = 0;       // octets of one instance at its evaluator
  std::uint64_t kept_else = 0;  // at each of the two others
  std::uint64_t sent = 0;       // by each of two, to the third
  std::uint64_t layout = 0;     // octets, once in each server
};

// Of a login, all instances together; roles rotate, so each server has a third of what each role
// keeps and sends.
struct Sums {
  double kept_by_each = 0, sent_by_each = 0, layouts = 0;
};

Sums sums_of(const std::vector<Planned>& all) {
  Sums sums;
  for (const Planned& one : all) {
    const auto times = static_cast<double>(one.times);
    sums.kept_by_each += times * static_cast<double>(one.kept + 2 * one.kept_else) / kServers;
    sums.layouts += static_cast<double>(one.layout);
    sums.sent_by_each += times * 2 * static_cast<double>(one.sent) / kServers;
  }
  return sums;
}

// NAME[:SIZE][=TIMES]
Result<Planned> planned(const std::string& text) {
  auto named = planned_circuit(text);
  if (!named) return named.error();
  Planned one;
  one.circuit = named->name;
  one.times = named->times;
  auto shape = WholeKinds::shape_of(one.circuit);
  if (!shape) return shape.error();
  const std::uint64_t labels = (*shape)->out_bits * garble::kLabelBytes;
  one.kept = (*shape)->all_bytes + labels;
  one.kept_else = labels;
  one.sent = (*shape)->all_bytes / 2;
  one.layout = (*shape)->schedule.gates.size() * sizeof(circuit::ScheduledGate);
  return one;
}

Result<std::vector<Planned>> all_of(const PlanOptions& options) {
  std::vector<std::string> names = options.circuits;
  if (names.empty()) names.assign(std::begin(kLogin), std::end(kLogin));
  std::vector<Planned> all;
  for (const std::string& name : names) {
    auto one = planned(name);
    if (!one) return one.error();
    all.push_back(std::move(*one));
  }
  return all;
}

int lanes_that_garble(const ServerConfig& config) {
  int lanes = 0;
  for (int lane = 0; lane < config.lanes; ++lane) lanes += has_streams(lane, config.lanes) ? 1 : 0;
  return lanes;
}

struct Plan {
  Sums login;
  double at_once_mb = 0;         // of memory, at each server, where nothing is made meanwhile
  double mbit = 0;               // that each server sends, where all is made meanwhile
  double instances_in_lane = 0;  // of each kind, for all at once
  // What is configured: logins of which all circuits stand ready; made again in a minute, 0: no
  // bound; and what is lacking for what was asked.
  double ready = 0, made_per_minute = 0, carried = 0;
};

Plan plan_of(const PlanOptions& options, const std::vector<Planned>& all,
             const ServerConfig& config) {
  const GarblingOptions& garbling = config.garbling;
  const auto logins = static_cast<double>(options.logins),
             lanes = static_cast<double>(lanes_that_garble(config));
  Plan plan;
  plan.login = sums_of(all);
  plan.at_once_mb = logins * plan.login.kept_by_each / kMib;
  plan.mbit = logins * plan.login.sent_by_each * 8 / kBitsPerMbit / (options.minutes * 60);
  std::uint64_t most_times = 1;
  for (const Planned& one : all) most_times = std::max(most_times, one.times);
  plan.instances_in_lane = std::ceil(logins * static_cast<double>(most_times) / lanes);
  const double by_memory =
      static_cast<double>(garbling.most_bytes) / std::max(1.0, plan.login.kept_by_each);
  const double by_number =
      static_cast<double>(garbling.instances) / static_cast<double>(most_times);
  plan.ready = std::floor(lanes * std::min(by_memory, by_number));
  plan.made_per_minute = static_cast<double>(garbling.octets_per_s) * 60 / plan.login.sent_by_each;
  plan.carried =
      garbling.octets_per_s == 0 ? logins : plan.ready + plan.made_per_minute * options.minutes;
  return plan;
}

void show(const PlanOptions& options, const std::vector<Planned>& all, const ServerConfig& config,
          const Plan& plan) {
  std::cout << std::left << std::setw(22) << "circuit" << std::right << std::setw(8) << "a login"
            << std::setw(16) << "MiB to keep" << std::setw(18) << "MB to send, each"
            << "\n";
  for (const Planned& one : all)
    std::cout << std::left << std::setw(22) << one.circuit << std::right << std::setw(8)
              << one.times << std::setw(16) << rounded(static_cast<double>(one.kept) / kMib)
              << std::setw(18) << rounded(static_cast<double>(one.sent) / 1e6) << "\n";
  const std::string minutes = rounded(options.minutes, options.minutes < 10 ? 1 : 0);
  std::cout << "\nA login: " << rounded(plan.login.kept_by_each / kMib)
            << " MiB of memory at each server, " << rounded(plan.login.sent_by_each / 1e6)
            << " MB that each sends to make its circuits again.\n"
            << options.logins << " logins at once: " << rounded(plan.at_once_mb, 0)
            << " MiB at each server; data.garbled_instances = " << plan.instances_in_lane
            << ", data.garbled_mb = " << std::ceil(plan.at_once_mb / lanes_that_garble(config))
            << " in each of " << lanes_that_garble(config)
            << " lanes that garble. Layouts of these circuits take "
            << rounded(plan.login.layouts / kMib, 0) << " MiB beside them.\n"
            << options.logins << " logins in " << minutes
            << " minutes, with circuits made meanwhile: " << rounded(plan.mbit)
            << " Mbit/s that each server sends and receives; data.garbling_mbit no less.\n"
            << "Configured (garbled_mb " << (config.garbling.most_bytes >> 20)
            << ", garbled_instances " << config.garbling.instances << ", garbling_mbit "
            << config.garbling.octets_per_s * 8 / 1'000'000 << ", lanes " << config.lanes
            << "): circuits of " << rounded(plan.ready, 0) << " logins stand ready; ";
  if (config.garbling.octets_per_s == 0)
    std::cout << "what is made again in a minute is not bounded.\n";
  else
    std::cout << "at most " << rounded(plan.made_per_minute, 0)
              << " are made again in a minute, so " << minutes << " minutes carry "
              << rounded(plan.carried, 0) << ".\n";
  std::cout << "Circuits are made while a lane has nothing else to do, or jobs wait for them; more "
               "logins are computed by sharing.\n";
}

nlohmann::json to_json(const PlanOptions& options, const std::vector<Planned>& all,
                       const Plan& plan) {
  nlohmann::json circuits = nlohmann::json::array();
  for (const Planned& one : all)
    circuits.push_back({{"circuit", one.circuit},
                        {"times", one.times},
                        {"kept_bytes", one.kept},
                        {"sent_bytes", one.sent}});
  return {{"logins", options.logins},
          {"minutes", options.minutes},
          {"circuits", circuits},
          {"login_kept_bytes", plan.login.kept_by_each},
          {"login_sent_bytes", plan.login.sent_by_each},
          {"layout_bytes", plan.login.layouts},
          {"at_once_mib", plan.at_once_mb},
          {"instances", plan.instances_in_lane},
          {"mbit", plan.mbit},
          {"configured_ready", plan.ready},
          {"configured_per_minute", plan.made_per_minute}};
}

Result<void> run_plan(const PlanOptions& options) {
  ServerConfig config;
  if (!options.config.empty()) {
    auto loaded = load_server_config(options.config);
    if (!loaded) return loaded.error();
    if (auto three = only_of_three(*loaded, "it prepares circuits by itself"); !three) return three;
    config = std::move(*loaded);
  }
  auto all = all_of(options);
  if (!all) return all.error();
  const Plan plan = plan_of(options, *all, config);
  if (options.json)
    std::cout << to_json(options, *all, plan).dump() << "\n";
  else
    show(options, *all, config, plan);
  return {};
}

}  // namespace

void add_garbling(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand("garbling", "garbled circuits that servers make ahead");
  command->require_subcommand(1);
  CLI::App* plan =
      command->add_subcommand("plan", "which reserve so many logins in so many minutes need");
  constexpr std::uint64_t kMostLogins = 1'000'000'000;
  constexpr double kLeastMinutes = 0.01, kMostMinutes = 1e6;
  plan->add_option("--logins", options->logins, "logins, each with a service's ticket")
      ->required()
      ->check(CLI::Range(std::uint64_t{1}, kMostLogins));
  plan->add_option("--minutes", options->minutes, "the time in which they come")
      ->required()
      ->check(CLI::Range(kLeastMinutes, kMostMinutes));
  plan->add_option("--config", options->config,
                   "a server's tkdc.toml; else the values that are set by default");
  plan->add_option("--circuit", options->circuits,
                   "NAME[:SIZE][=TIMES] of a login's circuits; else those of a usual login");
  plan->add_flag("--json", options->json, "as JSON");
  plan->callback([options, &exit_status] {
    auto done = run_plan(*options);
    if (done) return;
    std::cerr << "tkdc garbling: " << done.error().message << "\n";
    exit_status = 1;
  });
}

}  // namespace tkdc::cli
