// SPDX-License-Identifier: Apache-2.0
// `tkdc tables plan`: how many gigabytes of lookup tables and circuits, and how many hours of
// making them, so many logins need in a realm on two servers (docs/protocols/29-tables-in-jobs.md);
// and what a configuration keeps. Numbers of tables and ANDs are those of the operations; rates are
// what `tkdc bench ahead` measures, of one machine or another.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "service/pair/pair_reserve.h"
#include "service/pair/pair_table_job.h"
#include "service/server/config.h"
#include "tools/cli/commands.h"
#include "tools/cli/planned_circuit.h"

namespace tkdc::cli {
namespace {

// What two servers are asked for by a login with a password and a PAC, enctype 18, and by a
// service's ticket after it (docs/operations-table.md, With two servers).
constexpr const char* kLogin[] = {"mac-sha1:4",   "open18:56",    "mac-sha1:112", "seal18:312",
                                  "mac-sha1:297", "seal18:255",   "open18:340",   "verify-sha1:112",
                                  "mac-sha1:214", "mac-sha1:144", "seal18:368"};

// Below what `tkdc bench ahead` measures on two quiet cores (Zen 5: 72,000 to 77,000 tables and 1.3
// to 1.4 million ANDs a second, release build); octets are both servers'.
constexpr double kTablesPerS = 70'000, kAndsPerS = 800'000;
constexpr double kTableOctets = 4'565, kAndOctets = 342;

constexpr double kMib = 1 << 20, kGb = 1e9, kMostMib = 65'536, kHour_s = 3'600;

struct TablesOptions {
  std::uint64_t logins = 0;
  double tables_per_s = kTablesPerS, ands_per_s = kAndsPerS, mbit = 1'000;
  std::string config;
  std::vector<std::string> circuits;
  bool json = false;
};

struct PlannedOperation {
  PlannedCircuit of;
  std::size_t to_seal = 0, to_open = 0;  // tables, with those of the key's schedule
  std::uint64_t ands = 0;                // of the circuit, beside tables where there are some
  std::uint64_t whole = 0;               // of the circuit alone
  double times() const { return static_cast<double>(of.times); }
};

// Of a login.
struct Needs {
  double to_seal = 0, to_open = 0, ands = 0, whole = 0;
  double tables() const { return to_seal + to_open; }
  double table_bytes() const { return tables() * PairTables::kBytesOfOne; }
  double circuit_bytes() const { return bytes_of(ands); }
  double sent_bytes() const { return tables() * kTableOctets + ands * kAndOctets; }
  static double bytes_of(double ands) { return ands * static_cast<double>(pair_prepared_bytes(1)); }
};

Needs needs_of(const std::vector<PlannedOperation>& all) {
  Needs needs;
  for (const PlannedOperation& one : all) {
    needs.to_seal += one.times() * static_cast<double>(one.to_seal);
    needs.to_open += one.times() * static_cast<double>(one.to_open);
    needs.ands += one.times() * static_cast<double>(one.ands);
    needs.whole += one.times() * static_cast<double>(one.whole);
  }
  return needs;
}

Result<PlannedOperation> operation_of(PairCircuits& circuits, const std::string& text) {
  auto named = planned_circuit(text);
  if (!named) return named.error();
  auto ands = circuits.look_up(answer_kind(named->name));
  if (!ands) return fail("'" + text + "': " + ands.error().message);
  PlannedOperation one;
  one.of = *named;
  one.whole = one.ands = *ands;
  const auto by_tables = table_job(circuits, named->name);
  if (!by_tables) return one;
  auto beside = circuits.look_up(by_tables->kind);
  if (!beside) return beside.error();
  one.ands = *beside;
  one.to_seal = by_tables->needs(PairTables::Way::kForward, false);
  one.to_open = by_tables->needs(PairTables::Way::kInverse, false);
  return one;
}

Result<std::vector<PlannedOperation>> operations_of(const TablesOptions& options) {
  std::vector<std::string> names = options.circuits;
  if (names.empty()) names.assign(std::begin(kLogin), std::end(kLogin));
  PairCircuits circuits;
  std::vector<PlannedOperation> all;
  for (const std::string& name : names) {
    auto one = operation_of(circuits, name);
    if (!one) return one.error();
    all.push_back(std::move(*one));
  }
  if (needs_of(all).tables() == 0)
    return fail(
        "none of these operations takes lookup tables: name a SEAL or an OPEN, such as "
        "--circuit seal18:312");
  return all;
}

struct TablesPlan {
  Needs login;
  double tables_gb = 0, circuits_gb = 0, sent_gb = 0;
  double tables_h = 0, circuits_h = 0, line_h = 0, hours = 0;
  double logins_per_hour = 0;  // that can be kept up
  double tables_mb = 0;        // what data.tables_mb has to be, more than it may be or not
  // What is configured: logins that find all of their tables, and all of their circuits.
  double table_logins = 0, circuit_logins = 0;
};

// Of so many tables each way, in whole steps, with room for the way that has more.
double room_of(double to_seal, double to_open) {
  const auto bytes = [](double tables) {
    return std::ceil(tables / PairTables::kStep) * PairTables::kStep * PairTables::kBytesOfOne;
  };
  const double both = bytes(to_seal) + bytes(to_open);
  const double share = static_cast<double>(PairTables::most_of_one(1'000)) / 1'000;
  return std::max(both, std::max(bytes(to_seal), bytes(to_open)) / share);
}

double logins_of_tables(const Needs& login, std::size_t room) {
  const auto most = static_cast<double>(room),
             of_one = static_cast<double>(PairTables::most_of_one(room));
  const double larger = std::max(login.to_seal, login.to_open) * PairTables::kBytesOfOne;
  return std::floor(std::min(most / login.table_bytes(), of_one / larger));
}

double logins_of_circuits(const std::vector<PlannedOperation>& all, const Needs& login,
                          std::size_t room) {
  double least = static_cast<double>(room) / login.circuit_bytes();
  for (const PlannedOperation& one : all)
    least = std::min(least, static_cast<double>(PairReserve::kMostOfKind) / one.times());
  return std::floor(least);
}

TablesPlan plan_of(const TablesOptions& options, const std::vector<PlannedOperation>& all,
                   const ServerConfig& config) {
  TablesPlan plan;
  const Needs login = plan.login = needs_of(all);
  const auto logins = static_cast<double>(options.logins);
  plan.tables_gb = logins * login.table_bytes() / kGb;
  plan.circuits_gb = logins * login.circuit_bytes() / kGb;
  plan.sent_gb = logins * login.sent_bytes() / kGb;
  plan.tables_h = logins * login.tables() / options.tables_per_s / kHour_s;
  plan.circuits_h = logins * login.ands / options.ands_per_s / kHour_s;
  // Both send as much, and a line carries both directions at once.
  plan.line_h = plan.sent_gb / 2 * 8'000 / options.mbit / kHour_s;
  plan.hours = std::max(plan.tables_h + plan.circuits_h, plan.line_h);
  plan.logins_per_hour = logins / plan.hours;
  plan.tables_mb = std::ceil(room_of(logins * login.to_seal, logins * login.to_open) / kMib);
  plan.table_logins = logins_of_tables(login, config.pair_tables_bytes);
  plan.circuit_logins = logins_of_circuits(all, login, config.pair_prepared_bytes);
  return plan;
}

void show_operations(const std::vector<PlannedOperation>& all) {
  std::cout << std::left << std::setw(18) << "operation" << std::right << std::setw(8) << "a login"
            << std::setw(16) << "tables to seal" << std::setw(10) << "to open" << std::setw(15)
            << "MB of tables" << std::setw(13) << "of circuits" << std::setw(17) << "without tables"
            << "\n";
  const auto mb = [](double octets) { return rounded(octets / 1e6); };
  for (const PlannedOperation& one : all)
    std::cout << std::left << std::setw(18) << one.of.name << std::right << std::setw(8)
              << one.of.times << std::setw(16) << one.to_seal << std::setw(10) << one.to_open
              << std::setw(15)
              << mb(static_cast<double>((one.to_seal + one.to_open) * PairTables::kBytesOfOne))
              << std::setw(13) << mb(Needs::bytes_of(static_cast<double>(one.ands)))
              << std::setw(17) << mb(Needs::bytes_of(static_cast<double>(one.whole))) << "\n";
}

void show_room(const TablesOptions& options, const TablesPlan& plan) {
  std::cout << "For the tables of all of them at once data.tables_mb = "
            << rounded(plan.tables_mb, 0) << " at both servers";
  if (plan.tables_mb > kMostMib)
    std::cout << ", more than it may be (" << rounded(kMostMib, 0) << ": "
              << rounded(logins_of_tables(plan.login, std::size_t(kMostMib * kMib)), 0)
              << " logins)";
  std::cout << ". Of each length " << PairReserve::kMostOfKind
            << " circuits stand ready at most; what else is needed at once is made while users "
               "wait. All of it is in memory, and dies with its session.\n";
  if (!options.config.empty()) return;
  std::cout << "--config shows what a server's configuration keeps.\n";
}

void show_config(const TablesOptions& options, const ServerConfig& config, const TablesPlan& plan) {
  if (options.config.empty()) return;
  std::cout << "Configured (tables_mb " << (config.pair_tables_bytes >> 20) << ", prepared_mb "
            << (config.pair_prepared_bytes >> 20) << "): ";
  if (config.pair_tables_bytes == 0)
    std::cout << "no lookup tables, until both servers set data.tables_mb; ";
  else
    std::cout << "tables of " << rounded(plan.table_logins, 0) << " logins stand ready; ";
  std::cout << "circuits of " << rounded(plan.circuit_logins, 0)
            << " logins. The smaller values of both servers count.\n";
}

void show(const TablesOptions& options, const std::vector<PlannedOperation>& all,
          const ServerConfig& config, const TablesPlan& plan) {
  show_operations(all);
  std::cout << "\nA login: " << rounded(plan.login.to_seal, 0) << " tables to seal, "
            << rounded(plan.login.to_open, 0) << " to open, "
            << rounded(plan.login.table_bytes() / 1e6) << " MB; " << rounded(plan.login.ands, 0)
            << " ANDs of circuits, " << rounded(plan.login.circuit_bytes() / 1e6)
            << " MB, instead of " << rounded(Needs::bytes_of(plan.login.whole) / 1e6)
            << " MB without tables.\n"
            << options.logins << " logins: " << rounded(plan.tables_gb, 2)
            << " GB of tables at each server and " << rounded(plan.circuits_gb, 2)
            << " GB of circuits at the one that keeps more of them; both send "
            << rounded(plan.sent_gb, 2) << " GB together to make them.\n"
            << "That takes " << rounded(plan.hours, 2) << " hours: " << rounded(plan.tables_h, 2)
            << " for tables, " << rounded(plan.circuits_h, 2) << " for circuits; a line of "
            << rounded(options.mbit, 0) << " Mbit/s carries it in " << rounded(plan.line_h, 2)
            << ". So " << rounded(plan.logins_per_hour, 0) << " logins an hour can be kept up.\n"
            << "Rates: " << rounded(options.tables_per_s, 0) << " tables and "
            << rounded(options.ands_per_s, 0)
            << " ANDs a second; `tkdc bench ahead` measures them on this machine.\n";
  show_room(options, plan);
  show_config(options, config, plan);
}

nlohmann::json to_json(const TablesOptions& options, const std::vector<PlannedOperation>& all,
                       const TablesPlan& plan) {
  nlohmann::json operations = nlohmann::json::array();
  for (const PlannedOperation& one : all)
    operations.push_back({{"circuit", one.of.name},
                          {"times", one.of.times},
                          {"tables_to_seal", one.to_seal},
                          {"tables_to_open", one.to_open},
                          {"ands", one.ands},
                          {"ands_without_tables", one.whole}});
  nlohmann::json out = {{"logins", options.logins},
                        {"operations", operations},
                        {"login_tables_to_seal", plan.login.to_seal},
                        {"login_tables_to_open", plan.login.to_open},
                        {"login_ands", plan.login.ands},
                        {"login_table_bytes", plan.login.table_bytes()},
                        {"login_circuit_bytes", plan.login.circuit_bytes()},
                        {"login_sent_bytes", plan.login.sent_bytes()},
                        {"tables_gb", plan.tables_gb},
                        {"circuits_gb", plan.circuits_gb},
                        {"sent_gb", plan.sent_gb},
                        {"tables_hours", plan.tables_h},
                        {"circuits_hours", plan.circuits_h},
                        {"line_hours", plan.line_h},
                        {"hours", plan.hours},
                        {"logins_per_hour", plan.logins_per_hour},
                        {"tables_mb", plan.tables_mb},
                        {"tables_per_s", options.tables_per_s},
                        {"ands_per_s", options.ands_per_s},
                        {"mbit", options.mbit}};
  if (options.config.empty()) return out;
  out["configured_table_logins"] = plan.table_logins;
  out["configured_circuit_logins"] = plan.circuit_logins;
  return out;
}

Result<void> run_tables_plan(const TablesOptions& options) {
  ServerConfig config;
  if (!options.config.empty()) {
    auto loaded = load_server_config(options.config);
    if (!loaded) return loaded.error();
    if (loaded->parties != 2)
      return fail(
          "this is a realm on three servers (installation.parties), which have no lookup "
          "tables: use `tkdc garbling plan`");
    config = std::move(*loaded);
  }
  auto all = operations_of(options);
  if (!all) return all.error();
  const TablesPlan plan = plan_of(options, *all, config);
  if (options.json)
    std::cout << to_json(options, *all, plan).dump() << "\n";
  else
    show(options, *all, config, plan);
  return {};
}

void add_rates(CLI::App& plan, TablesOptions& options) {
  constexpr double kLeast = 1, kMost = 1e9;
  plan.add_option("--tables-per-s", options.tables_per_s,
                  "how many tables both servers make in a second, by tkdc bench ahead")
      ->check(CLI::Range(kLeast, kMost));
  plan.add_option("--ands-per-s", options.ands_per_s, "the same of ANDs of circuits")
      ->check(CLI::Range(kLeast, kMost));
  plan.add_option("--mbit", options.mbit, "what the line between the servers carries each way")
      ->check(CLI::Range(kLeast, kMost));
}

}  // namespace

void add_tables(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<TablesOptions>();
  CLI::App* command = app.add_subcommand("tables", "lookup tables that two servers make ahead");
  command->require_subcommand(1);
  CLI::App* plan =
      command->add_subcommand("plan", "how many gigabytes and hours so many logins need");
  constexpr std::uint64_t kMostLogins = 1'000'000'000;
  plan->add_option("--logins", options->logins, "logins, each with a service's ticket")
      ->required()
      ->check(CLI::Range(std::uint64_t{1}, kMostLogins));
  add_rates(*plan, *options);
  plan->add_option("--config", options->config, "tkdc.toml of one of the two servers");
  plan->add_option("--circuit", options->circuits,
                   "NAME[:SIZE][=TIMES] of a login's operations; else those of a usual login");
  plan->add_flag("--json", options->json, "as JSON");
  plan->callback([options, &exit_status] {
    auto done = run_tables_plan(*options);
    if (done) return;
    std::cerr << "tkdc tables: " << done.error().message << "\n";
    exit_status = 1;
  });
}

}  // namespace tkdc::cli
