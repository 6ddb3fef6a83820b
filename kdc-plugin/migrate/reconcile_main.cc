// SPDX-License-Identifier: Apache-2.0
// tkdc-reconcile, which `tkdc reconcile` runs: see tkdc(8). It compares the handles in a realm's
// database with the keys that the three servers hold. Linked like tkdc-import; it reads handles and
// needs no key but the database's master key.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "api.h"
#include "base/hex.h"
#include "base/progress_line.h"
#include "base/stop.h"
#include "migrate/dropped_keys.h"
#include "migrate/own_krbtgt.h"
#include "migrate/realm_module.h"
#include "migrate/reconcile_dropped.h"
#include "migrate/start.h"

namespace tkdc::migrate {
namespace {

constexpr int kDiffers = 2;
// Longer than an operation on the servers takes: a key that kadmind makes just now stands there
// before its entry is written.
constexpr unsigned kSettle_s = 45;

struct ReconcileOptions {
  std::string realm;
  bool destroy = false, yes = false, json = false, krbtgt = false, module = false;
  unsigned settle_s = kSettle_s;
};

struct Comparison {
  HandleSurvey found;
  std::size_t held = 0, elsewhere = 0;  // keys at the servers; of them, of other realms
  std::vector<ExportKey> dead;
  std::vector<RememberedHandle> forgotten;
  std::vector<ListedKey> orphans;
  std::vector<ListedDropped> recoverable;  // of `dead`
};

int complain(const std::string& message) {
  std::cerr << "tkdc reconcile: " << message << "\n";
  return 1;
}

// The database first: what is made in between is an orphan for a moment, never a dead handle.
Result<Comparison> compare(RealmDb& db, AgentPipe& agent) {
  auto found = survey_handles(db);
  if (!found) return found.error();
  if (found->mixed) return fail("the database has handles of several installations");
  const bool empty = found->keys.empty() && found->remembered.empty();
  if (!empty && !std::ranges::equal(found->installation,
                                    std::span(agent.installation(), sizeof(InstallationId))))
    return fail("the database's handles are of installation " + to_hex(found->installation) +
                ", the agent is of " +
                to_hex(ByteSpan(agent.installation(), sizeof(InstallationId))));
  auto held = list_server_keys(agent);
  if (!held) return held.error();
  Comparison out;
  out.held = held->size();
  out.dead = dead_handles(*found, *held);
  out.forgotten = dead_remembered(*found, *held);
  out.orphans = orphans(*found, *held, db.realm());
  if (!out.dead.empty()) {
    auto dropped = list_dropped_keys(agent);
    if (!dropped) return dropped.error();
    out.recoverable = recoverable(out.dead, *dropped);
  }
  const std::string here = "@" + db.realm();
  for (const auto& [id, key] : *held) out.elsewhere += key.principal.ends_with(here) ? 0 : 1;
  out.found = std::move(*found);
  return out;
}

// Principals whose newest keys are all dead: nobody logs in as one, or gets a ticket for it.
std::set<std::string> without_keys(const Comparison& c) {
  std::map<std::string, std::uint32_t> newest;
  for (const ExportKey& key : c.found.keys)
    newest[key.principal] = std::max(newest[key.principal], key.kvno);
  std::map<std::string, int> alive;
  for (const ExportKey& key : c.found.keys)
    alive[key.principal] += key.kvno == newest[key.principal];
  for (const ExportKey& key : c.dead) alive[key.principal] -= key.kvno == newest[key.principal];
  std::set<std::string> out;
  for (const auto& [principal, count] : alive)
    if (count == 0) out.insert(principal);
  return out;
}

void print(const std::string& realm, const Comparison& c) {
  std::cout << "realm " << realm << ": the database names " << c.found.keys.size()
            << " keys on shares, and " << c.found.remembered.size()
            << " that password histories remember; the servers hold " << c.held << " keys\n";
  if (c.elsewhere > 0)
    std::cout << c.elsewhere << " of them are of other realms and were not looked at\n";
  if (!c.dead.empty()) {
    std::cout << "\nDEAD: " << c.dead.size()
              << " keys that the database names and no server holds:\n";
    for (const ExportKey& key : c.dead) std::cout << "    " << describe(key) << "\n";
    const auto lost = without_keys(c);
    if (!lost.empty())
      std::cout << "  " << lost.size() << " principals have no key left; give each a new one (cpw, "
                << "ktadd), or load the database that\n  went with the servers' keys:\n";
    for (const std::string& name : lost) std::cout << "    " << name << "\n";
  }
  if (!c.recoverable.empty()) {
    std::cout << "  " << c.recoverable.size()
              << " of these keys are dropped, and can be given back (tkdc reconcile request):\n";
    for (const ListedDropped& one : c.recoverable) std::cout << "    " << describe(one.key) << "\n";
  }
  if (!c.forgotten.empty())
    std::cout << "\n"
              << c.forgotten.size()
              << " keys that password histories remember are gone: these passwords can be taken "
                 "again\n";
  if (!c.orphans.empty()) {
    std::cout << "\nORPHANS: " << c.orphans.size()
              << " keys that the servers hold and the database does not name:\n";
    for (const ListedKey& key : c.orphans) std::cout << "    " << describe(key) << "\n";
    std::cout << "  Whoever kept such a handle can still have that key used; --destroy removes "
                 "them.\n";
  }
  for (const std::string& entry : c.found.unreadable) std::cout << "unreadable: " << entry << "\n";
  for (const std::string& name : c.found.damaged_histories)
    std::cout << "password history cannot be read: " << name << "\n";
  if (c.dead.empty() && c.orphans.empty()) std::cout << "Database and servers agree.\n";
}

template <class Key>
nlohmann::json key_json(const Key& key) {
  return {{"principal", key.principal}, {"kvno", key.kvno}, {"enctype", key.enctype}};
}

void print_json(const std::string& realm, const Comparison& c) {
  nlohmann::json out = {{"realm", realm},
                        {"database_keys", c.found.keys.size()},
                        {"remembered_keys", c.found.remembered.size()},
                        {"server_keys", c.held},
                        {"of_other_realms", c.elsewhere},
                        {"dead", nlohmann::json::array()},
                        {"recoverable", nlohmann::json::array()},
                        {"without_keys", without_keys(c)},
                        {"dead_remembered", c.forgotten.size()},
                        {"orphans", nlohmann::json::array()},
                        {"unreadable", c.found.unreadable}};
  for (const ExportKey& key : c.dead) out["dead"].push_back(key_json(key));
  for (const ListedDropped& one : c.recoverable) out["recoverable"].push_back(key_json(one.key));
  for (const ListedKey& key : c.orphans) out["orphans"].push_back(key_json(key));
  std::cout << out.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) << "\n";
}

bool confirmed(std::size_t keys, const ReconcileOptions& options) {
  if (options.yes) return true;
  if (isatty(STDIN_FILENO) == 0) {
    std::cerr << "tkdc reconcile: nobody can be asked here: say --yes\n";
    return false;
  }
  std::cout << "\nTo remove these " << keys << " keys from the servers type " << keys << ": "
            << std::flush;
  std::string typed;
  std::getline(std::cin, typed);
  return typed == std::to_string(keys);
}

// What is an orphan now as well as before.
std::vector<ListedKey> still_orphans(const Comparison& before, const Comparison& now) {
  std::vector<ListedKey> out;
  for (const ListedKey& key : now.orphans)
    if (std::ranges::find(before.orphans, key) != before.orphans.end()) out.push_back(key);
  return out;
}

int destroy(RealmDb& db, AgentPipe& agent, const Comparison& before,
            const ReconcileOptions& options) {
  if (!before.found.unreadable.empty() || !before.found.damaged_histories.empty())
    return complain("entries that cannot be read may name these keys: mend them first");
  if (!confirmed(before.orphans.size(), options)) return complain("nothing was removed");
  std::cout << "waiting for " << options.settle_s
            << " s, so that no key that is being made is taken for an orphan\n"
            << std::flush;
  for (unsigned s = 0; s < options.settle_s * 10 && !stop_asked(); ++s)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  if (stop_asked()) return complain("stopped; nothing was removed");
  auto now = compare(db, agent);
  if (!now) return complain(now.error().message);
  if (!now->found.unreadable.empty() || !now->found.damaged_histories.empty())
    return complain("entries that cannot be read may name these keys: mend them first");
  InstallationId installation{};
  std::copy_n(agent.installation(), installation.size(), installation.begin());
  std::vector<tkdc_wire_key> keys;
  for (const ListedKey& key : still_orphans(before, *now))
    keys.push_back(wire_key(key, installation));
  ProgressLine line;
  auto removed = destroy_at_servers(agent, keys, [&](std::size_t done) {
    line.show(done, keys.size(), "keys");
    return !stop_asked();
  });
  line.clear();
  if (!removed) return complain(removed.error().message);
  std::cout
      << *removed
      << " keys were removed at the servers; what these keep of them (tkdc reconcile dropped) "
         "can be given back, or purged\n";
  return now->dead.empty() && now->orphans.size() == keys.size() ? 0 : kDiffers;
}

// `tkdc status` asks for this each time.
int look_at_krbtgt(RealmDb& db, AgentPipe& agent, bool json) {
  auto own = look_at_own_krbtgt(db, agent);
  if (!own) return complain(own.error().message);
  if (json) {
    nlohmann::json out = {
        {"realm", db.realm()},
        {"installation", to_hex(ByteSpan(agent.installation(), sizeof(InstallationId)))},
        {"dead", nlohmann::json::array()},
        {"plain", own->plain}};
    for (const ExportKey& key : own->dead) out["dead"].push_back(key_json(key));
    std::cout << out.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) << "\n";
  } else if (own->plain) {
    std::cout
        << "PLAIN: krbtgt's newest key of realm " << db.realm()
        << " is in the database itself: who reads that, or a backup of it, makes any ticket.\n"
           "  No server holds it. Draw a new one there: tkdc rotate krbtgt --now; and tkdc "
           "import takes all other keys along\n";
  } else if (own->dead.empty()) {
    std::cout << "realm " << db.realm() << ": the servers hold krbtgt's newest key.\n";
  } else {
    std::cout << "DEAD: no ticket can be issued, since no server holds\n";
    for (const ExportKey& key : own->dead) std::cout << "    " << describe(key) << "\n";
  }
  return own->dead.empty() && !own->plain ? 0 : kDiffers;
}

// Before krb5kdc and kadmind start. Whatever else fails here is not for it to say.
int look_at_modules() {
  constexpr int kRefused = 3;
  krb5_context context = nullptr;
  if (kadm5_init_krb5_context(&context) != 0) return 0;
  const auto right = no_module_is_misspelt(context);
  krb5_free_context(context);
  if (right) return 0;
  (void)complain(right.error().message);
  return kRefused;
}

// The realm has another module although kdc.conf names ktkdc: `tkdc status` is told so.
int without_database(const ReconcileOptions& options, const std::string& why) {
  const auto other = options.krbtgt && options.json ? other_module(options.realm) : std::nullopt;
  if (!other) return complain(why);
  auto agent = AgentPipe::connect(other->socket);
  if (!agent) return complain(why);
  std::cout << nlohmann::json{{"realm", other->realm},
                              {"installation",
                               to_hex(ByteSpan((*agent)->installation(), sizeof(InstallationId)))},
                              {"module_error", other->trouble}}
            << "\n";
  return kDiffers;
}

int run(const ReconcileOptions& options) {
  auto db = RealmDb::open(options.realm, Purpose::kRead);
  if (!db) return without_database(options, db.error().message);
  auto agent = AgentPipe::connect((*db)->agent_socket());
  if (!agent) return complain(agent.error().message);
  if (options.krbtgt) return look_at_krbtgt(**db, **agent, options.json);
  auto compared = compare(**db, **agent);
  if (!compared) return complain(compared.error().message);
  if (options.json)
    print_json((*db)->realm(), *compared);
  else
    print((*db)->realm(), *compared);
  if (options.destroy && !compared->orphans.empty())
    return destroy(**db, **agent, *compared, options);
  return compared->dead.empty() && compared->orphans.empty() && compared->found.unreadable.empty()
             ? 0
             : kDiffers;
}

}  // namespace
}  // namespace tkdc::migrate

int main(int argc, char** argv) {
  using namespace tkdc::migrate;
  if (sodium_init() < 0 || tkdc_preload_api.api != TKDC_PRELOAD_API) {
    std::cerr << "tkdc reconcile: libsodium or libtkdc-k5.so cannot start\n";
    return 1;
  }
  ReconcileOptions options;
  CLI::App app("compare a realm's database with the keys that the servers hold", "tkdc reconcile");
  app.add_option("--realm", options.realm, "default: krb5.conf's default realm");
  app.add_flag(
      "--destroy", options.destroy,
      "remove keys that the database does not name: dropped where the servers keep such keys "
      "(tkdc reconcile dropped), else destroyed");
  app.add_flag("--yes", options.yes, "do not ask before that");
  app.add_option("--settle", options.settle_s,
                 "seconds after which such a key must still be one; default 45")
      ->check(CLI::Range(1, 3600));
  app.add_flag("--json", options.json, "for programs; not together with --destroy")
      ->excludes("--destroy");
  app.add_flag("--krbtgt", options.krbtgt,
               "look at the newest key of the realm's own krbtgt alone, which is quick")
      ->excludes("--destroy");
  app.add_flag("--module", options.module,
               "only whether a database_module of kdc.conf is misspelt, which no server is asked "
               "for: 3 where it is")
      ->excludes("--destroy")
      ->excludes("--krbtgt");
  DroppedOptions dropped;
  add_dropped_commands(app, dropped);
  app.footer(
      "Exit status: 0 they agree, 2 they do not, 1 an error.\n"
      "Example: tkdc reconcile --destroy");
  if (const auto status = read_arguments(app, argc, argv)) return *status;
  // Where a unit starts krb5kdc: with the rights and the limits of that one, which may lock no
  // memory.
  if (options.module) return look_at_modules();
  harden();
  if (const auto status = run_dropped_command(dropped)) return *status;
  return run(options);
}
