// SPDX-License-Identifier: Apache-2.0
// tkdc-import, which `tkdc import` runs: see tkdc(8).
//
// It is linked with libtkdc-k5.so before libkrb5, so that the library's functions come
// first here as they do in kadmin.local by LD_PRELOAD. No key is written anywhere but to
// the agent's socket.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "api.h"
#include "base/progress_line.h"
#include "base/stop.h"
#include "migrate/importer.h"
#include "migrate/server_keys.h"
#include "migrate/start.h"

namespace tkdc::migrate {
namespace {

constexpr int kNotComplete = 2;

int complain(const std::string& message) {
  std::cerr << "tkdc import: " << message << "\n";
  return 1;
}

int finish(RealmDb& db, const Survey& before, const Options& options, const Importer& importer) {
  std::cout << "imported: " << importer.keys() << " keys of " << importer.imported()
            << " principals";
  if (importer.remembered() > 0)
    std::cout << ", " << importer.remembered() << " of them remembered by password histories";
  std::cout << "\n";
  const std::size_t left = legacy_left(before, options);
  if (!importer.refused().empty()) std::cout << report_refused(importer.refused());
  if (left > 0)
    std::cout << left << " keys of legacy enctypes stay readable in the database; give their "
              << "principals new keys, then run this again\n";
  if (left > 0 || !importer.refused().empty()) return kNotComplete;
  std::cout << "The database's file and its copies still hold what was encrypted under the master "
               "key:\nsee \"Moving a realm onto tkdc\" in docs/operations.md for what remains to "
               "be done in\nrealm "
            << db.realm() << ".\n";
  return 0;
}

int import(RealmDb& db, const Survey& found, const Options& options,
           std::unique_ptr<AgentPipe> agent) {
  const std::string path = options.journal.empty() ? db.journal_path() : options.journal;
  if (path.empty()) return complain("this database is no file: say --journal FILE");
  auto journal = Journal::open(path, agent->installation());
  if (!journal) return complain(journal.error().message);
  ProgressLine line;
  Importer importer(db, **journal, std::move(agent), options,
                    {stop_asked,
                     [&](const Progress& p) {
                       line.show(how_far(p.principals, p.of, "principals", p.seconds) + ", " +
                                 std::to_string(p.keys) + " keys");
                     },
                     [&](const std::string& text) { line.say(text); }});
  Result<void> done = importer.run(found);
  line.say("");
  if (done) done = importer.settle();
  if (!done) return complain(done.error().message);
  return finish(db, found, options, importer);
}

// Handles that the database has already and no server holds a key for.
Result<void> name_dead(RealmDb& db, AgentPipe& agent) {
  auto handles = survey_handles(db);
  if (!handles) return handles.error();
  if (handles->keys.empty() && handles->remembered.empty()) return {};
  auto held = list_server_keys(agent);
  if (!held) return held.error();
  const std::vector<ExportKey> dead = dead_handles(*handles, *held);
  if (dead.empty()) return {};
  std::cout << "\n"
            << dead.size() << " of the keys that exist as shares are DEAD, no server holds them:\n";
  for (const ExportKey& key : dead) std::cout << "    " << describe(key) << "\n";
  std::cout << "  An older dump was loaded: see `tkdc reconcile`.\n" << std::flush;
  return {};
}

int run(const Options& options) {
  auto db = RealmDb::open(options.realm, Purpose::kImport);
  if (!db) return complain(db.error().message);
  auto agent = AgentPipe::connect((*db)->agent_socket());
  if (!agent) return complain(agent.error().message);
  auto found = survey(**db, options);
  if (!found) return complain(found.error().message);
  std::cout << report((*db)->realm(), *found, options) << std::flush;
  const std::vector<std::string> in_the_way = obstacles(*found, options);
  for (const std::string& obstacle : in_the_way) std::cerr << "\nrefused: " << obstacle << "\n";
  if (auto dead = name_dead(**db, **agent); !dead) return complain(dead.error().message);
  if (!in_the_way.empty()) {
    std::cerr << "\nNothing was changed.\n";
    return kNotComplete;
  }
  if (options.dry_run) {
    std::cout << "\nNothing stands in the way, and nothing was changed.\n";
    return 0;
  }
  return import(**db, *found, options, std::move(*agent));
}

}  // namespace
}  // namespace tkdc::migrate

int main(int argc, char** argv) {
  if (sodium_init() < 0 || tkdc_preload_api.api != TKDC_PRELOAD_API) {
    std::cerr << "tkdc import: libsodium or libtkdc-k5.so cannot start\n";
    return 1;
  }
  tkdc::migrate::Options options;
  CLI::App app("turns the keys of a realm's database into handles", "tkdc import");
  app.add_option("--realm", options.realm, "default: krb5.conf's default_realm");
  app.add_flag("--dry-run", options.dry_run, "say what would be done and what stands in the way");
  app.add_flag("--drop-legacy", options.drop_legacy,
               "drop keys of legacy enctypes of principals that have others");
  app.add_flag("--leave-legacy", options.leave_legacy,
               "leave keys of legacy enctypes in the database as they are");
  app.add_flag(
      "--without-history", options.without_history,
      "drop what password histories remember, so that former passwords can be taken again");
  app.add_option("--journal", options.journal, "default: the database's name and .tkdc-import");
  app.add_option("--parallel", options.keys_at_once, "keys at work at once, at most; default 32")
      ->check(CLI::Range(1, 1024));
  app.add_option("--patience", options.patience_s, "seconds without progress; default 120")
      ->check(CLI::Range(1, 86400));
  app.footer(
      "Example: what an import would do, before anything is changed\n"
      "  tkdc import --realm EXAMPLE.TEST --dry-run");
  if (const auto status = tkdc::migrate::start(app, argc, argv)) return *status;
  return tkdc::migrate::run(options);
}
