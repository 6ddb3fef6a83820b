// SPDX-License-Identifier: Apache-2.0
// tkdc-export, which `tkdc export` runs: see tkdc(8). Linked like tkdc-import.
#include <CLI/CLI.hpp>
#include <chrono>
#include <ctime>
#include <iostream>
#include <set>

#include "api.h"
#include "base/durable_file.h"
#include "base/hex.h"
#include "base/progress_line.h"
#include "base/stop.h"
#include "base/system_error.h"
#include "migrate/exporter.h"
#include "migrate/server_keys.h"
#include "migrate/start.h"

namespace tkdc::migrate {
namespace {

constexpr int kNotComplete = 2;

struct ExportOptions {
  std::string realm, folder, agent_config;
  std::vector<std::string> shares;
  unsigned hours = 24;
  bool dry_run = false, leave_servers = false, without_history = false, without_dead = false;
};

int complain(const std::string& message) {
  std::cerr << "tkdc export: " << message << "\n";
  return 1;
}

// Handles that belong to no key at the servers, which would refuse a request that lists one. Error:
// why they cannot be asked.
Result<std::set<KeyId>> dead_keys(RealmDb& db, const HandleSurvey& found) {
  auto agent = AgentPipe::connect(db.agent_socket());
  if (!agent) return agent.error();
  auto held = list_server_keys(**agent);
  if (!held) return held.error();
  std::set<KeyId> dead;
  for (const ExportKey& key : dead_handles(found, *held)) {
    std::cout << "  DEAD: " << describe(key) << "\n";
    dead.insert(key.id);
  }
  std::size_t forgotten = 0;
  for (const RememberedHandle& old : dead_remembered(found, *held)) {
    KeyId id{};
    std::ranges::copy(old.key.key_id, id.begin());
    forgotten += dead.insert(id).second ? 1 : 0;
  }
  if (forgotten > 0)
    std::cout << "  DEAD: " << forgotten << " keys that only password histories remember\n";
  return dead;
}

// False: the request is not to be made.
bool leave_out_dead(RealmDb& db, const HandleSurvey& found, const ExportOptions& options,
                    ExportRequest& wanted) {
  auto dead = dead_keys(db, found);
  if (!dead) {
    std::cerr
        << "not compared with the servers, which refuse a request that lists keys they do not "
           "hold: "
        << dead.error().message << "\n";
    return true;
  }
  std::size_t listed = 0;
  for (const ExportKey& key : wanted.keys) listed += dead->contains(key.id) ? 1 : 0;
  if (listed == 0) return true;
  if (!options.without_dead) {
    complain(std::to_string(listed) +
             " keys exist at no server, and no request that lists them is taken: give their "
             "principals new keys (cpw, ktadd) or delete these; or --without-dead");
    return false;
  }
  std::erase_if(wanted.keys, [&](const ExportKey& key) { return dead->contains(key.id); });
  std::cout << listed
            << " dead keys are left out; their principals need new keys, or to be deleted, "
            << "before `tkdc export finish`\n";
  return true;
}

int request(const ExportOptions& options) {
  auto db = RealmDb::open(options.realm, Purpose::kExport);
  if (!db) return complain(db.error().message);
  auto found = survey_handles(**db);
  if (!found) return complain(found.error().message);
  ExportRequest wanted;
  wanted.keys = keys_to_request(*found, !options.without_history);
  std::cout << "realm " << (*db)->realm() << ": " << found->principals << " principals, "
            << found->keys.size() << " keys on shares of " << found->names.size() << " of them, "
            << found->plain << " keys in the database\n";
  const std::size_t remembered = wanted.keys.size() - found->keys.size();
  if (remembered > 0)
    std::cout << "with " << remembered << " keys more that only password histories remember\n";
  for (const std::string& entry : found->unreadable) std::cerr << "  " << entry << "\n";
  if (!found->unreadable.empty()) return complain("these entries' keys cannot be read");
  if (found->mixed) return complain("there are handles of several installations");
  if (!leave_out_dead(**db, *found, options, wanted)) return 1;
  if (wanted.keys.empty()) {
    std::cout << "There is nothing to export.\n";
    return 0;
  }
  if (wanted.keys.size() > kMaxExportKeys)
    return complain(std::to_string(wanted.keys.size()) +
                    " keys are more than the servers hand over, " + std::to_string(kMaxExportKeys) +
                    ": leave out what password histories remember "
                    "with --without-history");
  if (options.dry_run) return 0;
  if (options.folder.empty()) return complain("--folder is needed");
  wanted.installation = found->installation;
  wanted.realm = (*db)->realm();
  wanted.expires_at_s = static_cast<std::uint64_t>(std::time(nullptr)) + 3600ull * options.hours;
  auto folder = ExportFolder::create(options.folder, std::move(wanted));
  if (!folder) return complain(folder.error().message);
  std::cout << "request      " << short_digest(folder->digest()) << "\nrecipient    "
            << short_digest(folder->request().recipient) << "\nTwo servers' administrators `tkdc "
            << "approve` " << folder->request_file() << " and compare these two\nwith you; every "
            << "server then has its `tkdc hand-over`. " << folder->secret_file()
            << "\nopens what they hand over: it stays here.\n";
  return 0;
}

int report(const Exporter& exporter) {
  std::cout << "restored: " << exporter.restored() << " keys\n";
  if (exporter.drew_version())
    std::cout << "krbtgt has a new version; tickets under older ones stay good until `tkdc export "
                 "finish`\n";
  if (exporter.left_remembered() > 0)
    std::cout
        << exporter.left_remembered() << " keys that password histories remember stay "
        << "behind: they are not in the request, or\nunder another version of kadmin/history; "
        << "a stock kadmind passes over them\n";
  if (exporter.unknown() > 0) {
    std::cout << exporter.unknown()
              << " keys are not in the request. If they were made since, stop "
              << "kadmind and make another\nrequest for them; dead ones (tkdc reconcile) need new "
              << "keys first\n";
    return kNotComplete;
  }
  std::cout << "Every key that can leave is in the database. "
            << (exporter.staying() > 0 ? "When the longest ticket has expired: " : "At once: ")
            << "`tkdc export\nfinish`, then the module out of kdc.conf; see \"Leaving tkdc\" in "
               "docs/operations.md.\n";
  return 0;
}

int restore(const ExportOptions& options) {
  auto folder = ExportFolder::open(options.folder);
  if (!folder) return complain(folder.error().message);
  auto servers = read_server_keys(options.agent_config, folder->request().installation);
  if (!servers) return complain(servers.error().message);
  auto keys = open_parcels(*folder, options.shares, *servers);
  if (!keys) return complain(keys.error().message);
  std::size_t stay = 0;
  for (const auto& [id, key] : *keys) stay += key ? 0 : 1;
  std::cout << "shares of " << (servers->size() == 2 ? "both" : "all three")
            << " servers agree: " << keys->size() - stay << " keys, and " << stay
            << " that stay there\n"
            << std::flush;
  auto db = RealmDb::open(options.realm, Purpose::kExport);
  if (!db) return complain(db.error().message);
  if ((*db)->realm() != folder->request().realm)
    return complain("the request is of realm " + folder->request().realm);
  if (options.dry_run) return 0;
  ProgressLine line;
  const auto began = std::chrono::steady_clock::now();
  const auto seconds = [began] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  Exporter::Hooks hooks;
  hooks.stopped = stop_asked;
  hooks.show = [&](const ExportProgress& p) {
    line.show(how_far(p.principals, p.of, "principals", seconds()) + ", " + std::to_string(p.keys) +
              " keys");
  };
  hooks.say = [&](const std::string& text) { line.say(text); };
  Exporter exporter(**db, *keys, std::move(hooks));
  if (auto done = exporter.run(); !done) return complain(done.error().message);
  return report(exporter);
}

int finish(const ExportOptions& options) {
  auto folder = ExportFolder::open(options.folder);
  if (!folder) return complain(folder.error().message);
  auto db = RealmDb::open(options.realm, Purpose::kExport);
  if (!db) return complain(db.error().message);
  if ((*db)->realm() != folder->request().realm)
    return complain("the request is of realm " + folder->request().realm);
  auto dropped = drop_own_versions(**db);
  if (!dropped) return complain(dropped.error().message);
  std::cout << *dropped << " handles left krbtgt's entry\n";
  if (!options.leave_servers) {
    auto agent = AgentPipe::connect((*db)->agent_socket());
    if (!agent) return complain(agent.error().message + "; or --leave-servers");
    if (!std::ranges::equal(folder->request().installation,
                            std::span((*agent)->installation(), sizeof(InstallationId))))
      return complain("the agent is of another installation than the request");
    auto found = survey_handles(**db);
    if (!found) return complain(found.error().message);
    for (const std::string& name : found->damaged_histories)
      std::cerr
          << "  " << name
          << ": its password history cannot be read; keys that it names stay at the servers\n";
    const std::vector<tkdc_wire_key> keys = keys_to_destroy(*found, folder->request());
    ProgressLine line;
    auto removed = destroy_at_servers(**agent, keys, [&](std::size_t done) {
      line.show(done, keys.size(), "keys at the servers");
      return !stop_asked();
    });
    line.clear();
    if (!removed) return complain(removed.error().message);
    std::cout << *removed << " keys removed at the servers\n";
  }
  if (!remove_wiped(folder->secret_file()))
    return complain(system_error(folder->secret_file() + " could not be removed").message);
  std::cout << "This realm needs tkdc no more. Take the module out of kdc.conf and the preload "
               "library out of\nthe daemons' environment, and restart them; destroy the servers' "
               "stores and the files of shares.\n";
  return 0;
}

CLI::App* add(CLI::App& app, ExportOptions& options, const char* name, const char* what) {
  CLI::App* command = app.add_subcommand(name, what);
  command->add_option("--realm", options.realm, "default: krb5.conf's default realm");
  return command;
}

}  // namespace
}  // namespace tkdc::migrate

int main(int argc, char** argv) {
  using namespace tkdc::migrate;
  if (sodium_init() < 0 || tkdc_preload_api.api != TKDC_PRELOAD_API) {
    std::cerr << "tkdc export: libsodium or libtkdc-k5.so cannot start\n";
    return 1;
  }
  ExportOptions options;
  CLI::App app("give a realm's keys back to its database: see \"Leaving tkdc\" in operations.md",
               "tkdc export");
  app.require_subcommand(1);
  CLI::App* asks = add(app, options, "request", "make the request and the recipient's key");
  asks->add_option("--folder", options.folder, "a new folder for both");
  asks->add_option("--hours", options.hours, "how long it is good; default 24")
      ->check(CLI::Range(1, 24));
  asks->add_flag("--without-history", options.without_history,
                 "leave out what password histories remember");
  asks->add_flag("--without-dead", options.without_dead,
                 "leave out keys that no server holds (tkdc reconcile)");
  asks->add_flag("--dry-run", options.dry_run, "count and change nothing");
  CLI::App* restores = add(app, options, "restore", "put the keys into the database");
  restores->add_option("--folder", options.folder, "the request's folder")->required();
  restores
      ->add_option("--agent-config", options.agent_config,
                   "an agent.toml of the installation: it names the servers' public keys")
      ->required();
  restores->add_flag("--dry-run", options.dry_run, "compare the shares and change no key");
  restores->add_option("shares", options.shares, "what the servers handed over")->required();
  CLI::App* finishes = add(app, options, "finish", "remove what is left of tkdc in the realm");
  finishes->add_option("--folder", options.folder, "the request's folder")->required();
  finishes->add_flag("--leave-servers", options.leave_servers,
                     "do not remove the keys at the servers");
  asks->footer(
      "Example: good for 12 hours\n"
      "  tkdc export request --realm EXAMPLE.TEST --folder /root/export --hours 12");
  restores->footer(
      "Example: look whether the shares fit, and change no key\n"
      "  tkdc export restore --folder /root/export --dry-run --agent-config "
      "/etc/tkdc/agent-admin/agent.toml shares-0 shares-1 shares-2");
  finishes->footer(
      "Example: and let the servers forget the keys\n"
      "  tkdc export finish --folder /root/export");
  if (const auto status = tkdc::migrate::start(app, argc, argv)) return *status;
  if (asks->parsed()) return request(options);
  return restores->parsed() ? restore(options) : finish(options);
}
