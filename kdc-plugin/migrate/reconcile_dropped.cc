// SPDX-License-Identifier: Apache-2.0
#include "migrate/reconcile_dropped.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/output_file.h"
#include "base/progress_line.h"
#include "base/secret_file.h"
#include "base/stop.h"
#include "base/utc_time.h"

namespace tkdc::migrate {
namespace {

constexpr std::uint64_t kDay_s = 24 * 3600;

struct Site {
  std::unique_ptr<RealmDb> db;
  std::unique_ptr<AgentPipe> agent;
  InstallationId installation{};
  std::uint32_t days = 0;
  std::vector<ListedDropped> dropped;  // of this realm
};

int say_no(const std::string& message) {
  std::cerr << "tkdc reconcile: " << message << "\n";
  return 1;
}

Result<Site> look(const DroppedOptions& options) {
  Site site;
  auto db = RealmDb::open(options.realm, Purpose::kRead);
  if (!db) return db.error();
  site.db = std::move(*db);
  auto agent = AgentPipe::connect(site.db->agent_socket());
  if (!agent) return agent.error();
  site.agent = std::move(*agent);
  std::copy_n(site.agent->installation(), site.installation.size(), site.installation.begin());
  auto days = keep_dropped_days(*site.agent);
  if (!days) return days.error();
  site.days = *days;
  auto dropped = list_dropped_keys(*site.agent);
  if (!dropped) return dropped.error();
  const std::string here = "@" + site.db->realm();
  for (ListedDropped& one : *dropped)
    if (one.key.principal.ends_with(here)) site.dropped.push_back(std::move(one));
  return site;
}

bool is_named(const DroppedOptions& options, const std::string& realm, const std::string& name) {
  return std::ranges::any_of(options.principals, [&](const std::string& one) {
    return name == one || name == one + "@" + realm;
  });
}

std::uint64_t due_at_s(const Site& site, const ListedDropped& one) {
  return one.at_s + site.days * kDay_s;
}

std::string line_of(const Site& site, const ListedDropped& one) {
  return describe(one.key) + ", dropped " + format_utc(static_cast<std::int64_t>(one.at_s)) +
         ", due " + format_utc(static_cast<std::int64_t>(due_at_s(site, one)));
}

std::vector<ListedDropped> by_name(std::vector<ListedDropped> keys) {
  std::ranges::sort(keys, [](const ListedDropped& a, const ListedDropped& b) {
    return std::tie(a.key.principal, a.key.kvno, a.key.enctype, a.key.id) <
           std::tie(b.key.principal, b.key.kvno, b.key.enctype, b.key.id);
  });
  return keys;
}

int list(const Site& site, const DroppedOptions& options) {
  if (options.json) {
    nlohmann::json out = {{"realm", site.db->realm()},
                          {"keep_dropped_days", site.days},
                          {"dropped", nlohmann::json::array()}};
    for (const ListedDropped& one : by_name(site.dropped))
      out["dropped"].push_back({{"principal", one.key.principal},
                                {"kvno", one.key.kvno},
                                {"enctype", one.key.enctype},
                                {"dropped_at", one.at_s},
                                {"due_at", due_at_s(site, one)}});
    std::cout << out.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) << "\n";
    return 0;
  }
  std::cout << site.dropped.size() << " dropped keys of realm " << site.db->realm()
            << "; each stays for " << site.days << " days\n";
  for (const ListedDropped& one : by_name(site.dropped))
    std::cout << "    " << line_of(site, one) << "\n";
  return 0;
}

bool confirmed_purge(std::size_t keys, const DroppedOptions& options) {
  if (options.yes) return true;
  if (isatty(STDIN_FILENO) == 0) {
    std::cerr << "tkdc reconcile: nobody can be asked here: say --yes\n";
    return false;
  }
  std::cout << "\nTo purge these " << keys << " keys for good type " << keys << ": " << std::flush;
  std::string typed;
  std::getline(std::cin, typed);
  return typed == std::to_string(keys);
}

int change(Site& site, tkdc_wire_op op, const std::vector<tkdc_wire_key>& keys, const char* done,
           const std::string& remedy = "") {
  ProgressLine line;
  auto changed = change_at_servers(*site.agent, op, keys, [&](std::size_t count) {
    line.show(count, keys.size(), "keys");
    return !stop_asked();
  });
  line.clear();
  if (!changed) return say_no(changed.error().message + remedy);
  std::cout << *changed << " keys were " << done << "\n";
  return *changed == keys.size() ? 0 : 2;
}

int purge(Site& site, const DroppedOptions& options) {
  if (!options.due && !options.all && options.principals.empty())
    return say_no("say what is to go: --due, --all, or --principal NAME");
  const auto now = static_cast<std::uint64_t>(std::time(nullptr));
  std::vector<ListedDropped> chosen;
  for (const ListedDropped& one : by_name(site.dropped))
    if (options.all || (options.due && due_at_s(site, one) <= now) ||
        is_named(options, site.db->realm(), one.key.principal))
      chosen.push_back(one);
  for (const ListedDropped& one : chosen) std::cout << "    " << line_of(site, one) << "\n";
  if (chosen.empty()) {
    std::cout << "nothing to purge\n";
    return 0;
  }
  if (!confirmed_purge(chosen.size(), options)) return say_no("nothing was purged");
  std::vector<tkdc_wire_key> keys;
  for (const ListedDropped& one : chosen) keys.push_back(wire_key(one.key, site.installation));
  return change(site, TKDC_OP_PURGE, keys, "purged, and never come back");
}

// What the database names and the servers have dropped; or what is named.
Result<std::vector<ListedDropped>> wanted(Site& site, const DroppedOptions& options) {
  std::vector<ListedDropped> out;
  if (!options.principals.empty()) {
    for (const ListedDropped& one : site.dropped)
      if (is_named(options, site.db->realm(), one.key.principal)) out.push_back(one);
    return out;
  }
  auto found = survey_handles(*site.db);
  if (!found) return found.error();
  auto held = list_server_keys(*site.agent);
  if (!held) return held.error();
  return recoverable(dead_handles(*found, *held), site.dropped);
}

int request(Site& site, const DroppedOptions& options) {
  auto chosen = wanted(site, options);
  if (!chosen) return say_no(chosen.error().message);
  if (chosen->empty())
    return say_no(
        "the database names no dropped key, or none has such a name: there is nothing "
        "to ask for (tkdc reconcile dropped)");
  GiveBackRequest request;
  request.installation = site.installation;
  request.realm = site.db->realm();
  request.expires_at_s = static_cast<std::uint64_t>(std::time(nullptr)) + options.hours * 3600;
  for (const ListedDropped& one : *chosen)
    request.keys.push_back(
        {{one.key.id, one.key.kvno, one.key.enctype, one.key.principal}, one.at_s});
  std::ranges::sort(request.keys, {}, [](const WantedKey& one) { return one.key.id; });
  const std::string text = encode(request);
  if (auto good = decode_give_back_request(text); !good) return say_no(good.error().message);
  auto file = OutputFile::create(options.file);
  if (!file) return say_no(file.error().message);
  if (auto written =
          file->finish({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
      !written)
    return say_no(written.error().message);
  for (const ListedDropped& one : by_name(*chosen))
    std::cout << "    " << line_of(site, one) << "\n";
  std::cout << request.keys.size() << " keys: " << options.file << "\nrequest      "
            << short_digest(give_back_digest(text))
            << "\nTwo servers' administrators `tkdc approve` it and compare this with you; `tkdc "
               "give-back` on all\nthree servers, then `tkdc reconcile give-back "
            << options.file << "` here\n";
  return 0;
}

int give_back(Site& site, const DroppedOptions& options) {
  auto text = read_text_file(options.file, kMaxExportRequestBytes);
  if (!text) return say_no(text.error().message);
  auto request = decode_give_back_request(*text);
  if (!request) return say_no(options.file + ": " + request.error().message);
  if (request->installation != site.installation || request->realm != site.db->realm())
    return say_no("the request is of another realm or installation");
  auto held = list_server_keys(*site.agent);
  if (!held) return say_no(held.error().message);
  std::vector<tkdc_wire_key> keys;
  std::size_t in_use = 0;
  for (const WantedKey& one : request->keys) {
    if (held->contains(one.key.id))
      ++in_use;
    else
      keys.push_back(wire_key({one.key.id, one.key.kvno, one.key.enctype, one.key.principal},
                              site.installation));
  }
  if (in_use > 0) std::cout << in_use << " keys of the request are in use already\n";
  return change(site, TKDC_OP_GIVE_BACK, keys, "given back",
                "; where servers refuse because one was started since, type `tkdc give-back` there "
                "again, with the same request and approvals, and then this");
}

}  // namespace

void add_dropped_commands(CLI::App& app, DroppedOptions& options) {
  const auto add = [&](const std::string& word, const char* what, const std::string& example) {
    CLI::App* command = app.add_subcommand(word, what);
    command->footer("Example: tkdc reconcile " + word + example);
    command->add_option("--realm", options.realm, "default: krb5.conf's default realm");
    return command;
  };
  options.list = add("dropped", "list keys that were removed and can be given back", "");
  options.list->add_flag("--json", options.json, "for programs");
  options.purge = add("purge", "end dropped keys for good", " --due");
  CLI::Option* due =
      options.purge->add_flag("--due", options.due, "those that were kept long enough");
  CLI::Option* all = options.purge->add_flag("--all", options.all, "all of this realm");
  due->excludes(all);
  options.purge->add_option("--principal", options.principals, "those of this name")
      ->excludes(due)
      ->excludes(all);
  options.purge->add_flag("--yes", options.yes, "do not ask before");
  options.request =
      add("request", "ask two administrators for dropped keys", " --out give-back.request");
  options.request->add_option("--out", options.file, "the request's file")->required();
  options.request->add_option("--principal", options.principals,
                              "of this name; default: what the database names");
  options.request->add_option("--hours", options.hours, "until it expires; default 12")
      ->check(CLI::Range(1, 23));
  options.give_back = add("give-back", "have them in use again, when all three servers allow it",
                          " give-back.request");
  options.give_back->add_option("request", options.file, "the request's file")->required();
}

std::optional<int> run_dropped_command(const DroppedOptions& options) {
  const CLI::App* commands[] = {options.list, options.purge, options.request, options.give_back};
  if (std::ranges::none_of(commands, [](const CLI::App* one) { return one->parsed(); }))
    return std::nullopt;
  auto site = look(options);
  if (!site) return say_no(site.error().message);
  if (options.list->parsed()) return list(*site, options);
  if (options.purge->parsed()) return purge(*site, options);
  return options.request->parsed() ? request(*site, options) : give_back(*site, options);
}

}  // namespace tkdc::migrate
