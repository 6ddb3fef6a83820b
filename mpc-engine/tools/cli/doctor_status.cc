// SPDX-License-Identifier: Apache-2.0
// What a daemon says of itself, and, by an agent's status, what the servers say.
#include <algorithm>
#include <ctime>
#include <iterator>

#include "base/utc_time.h"
#include "tools/cli/doctor_checks.h"
#include "tools/cli/printable.h"
#include "tools/cli/spare.h"
#include "tools/cli/status_table.h"

namespace tkdc::cli {
namespace {

using nlohmann::json;
using Kind = Patient::Kind;

constexpr const char* kUnits = "/etc/systemd/system";
constexpr const char* kSetClock =
    "on that host: timedatectl set-ntp true; timedatectl timesync-status; with chrony: chronyc "
    "makestep; chronyc tracking";
constexpr std::int64_t kRefreshDueS = 40 * 86'400;  // tkdc-refresh@.timer: each month

std::string text_of(const json& object, const char* field) {
  const auto it = object.find(field);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

bool truth(const json& object, const char* field) {
  const auto it = object.find(field);
  return it != object.end() && it->is_boolean() && it->get<bool>();
}

std::int64_t number_of(const json& object, const char* field) {
  const auto it = object.find(field);
  return it != object.end() && it->is_number_integer() ? it->get<std::int64_t>() : 0;
}

// Servers that the status speaks of: its own, or all of an agent's.
std::vector<json> servers_of(const Patient& patient) {
  if (patient.kind == Kind::kServer) return {patient.status};
  const auto it = patient.status.find("servers");
  if (it == patient.status.end() || !it->is_array()) return {};
  std::vector<json> out;
  std::ranges::copy_if(*it, std::back_inserter(out),
                       [](const json& one) { return one.is_object(); });
  return out;
}

std::string who(const json& server) {
  return "server " + std::to_string(number_of(server, "party"));
}

// Where `tkdc init` has it, of whom nothing else is known.
std::string audit_file(const Patient& patient) {
  return shell_word(patient.server ? patient.server->audit_file
                                   : "/var/lib/tkdc/" + patient.name + "/audit.jsonl");
}

std::vector<std::string> texts_of(const json& object, const char* field) {
  std::vector<std::string> out;
  const auto it = object.find(field);
  if (it == object.end() || !it->is_array()) return out;
  for (const json& one : *it)
    if (one.is_string()) out.push_back(one.get<std::string>());
  return out;
}

Finding silent() { return unknown("it does not answer: see running"); }

}  // namespace

Finding told(const Patient& patient, const char* field, std::string remedy, std::string well) {
  if (!patient.status.is_object()) return silent();
  const std::string text = text_of(patient.status, field);
  return text.empty() ? good(std::move(well)) : warning(text, std::move(remedy));
}

Finding check_running(const Patient& patient) {
  if (patient.status.is_object()) return good("answers");
  if (patient.kind == Kind::kAgent && is_of_a_spare(patient.name, patient.root + kUnits))
    return good("a spare KDC: it does not run before the host is promoted");
  return wrong(patient.silence,
               "journalctl -b -n 20 -u " + patient.unit + "; then systemctl start " + patient.unit);
}

// The cause first: one that is latched or away lets the others be without a session.
Finding check_session(const Patient& patient) {
  if (!patient.status.is_object()) return silent();
  const auto servers = servers_of(patient);
  const auto first = [&](const auto& is_so) { return std::ranges::find_if(servers, is_so); };
  if (const auto one = first([](const json& s) { return !text_of(s, "latched").empty(); });
      one != servers.end())
    return wrong(who(*one) + " is latched: " + text_of(*one, "latched"),
                 "docs/operations.md, Deviations: find out why; then at each of the servers: "
                 "tkdc release");
  const bool agent = patient.kind == Kind::kAgent;
  if (const auto one = first([&](const json& s) { return agent && !truth(s, "reachable"); });
      one != servers.end())
    return wrong(who(*one) + ": " + text_of(*one, "trouble"), "on that server's host: tkdc doctor");
  if (const auto one = first([](const json& s) { return !truth(s, "session_up"); });
      one != servers.end())
    return wrong(who(*one) + ": " + text_of(*one, "trouble"),
                 "on the other servers' hosts: tkdc doctor; here: journalctl -u " + patient.unit +
                     " TKDC_EVENT=no-session");
  if (agent && servers.size() != parties_of(patient.status))
    return wrong("its status has " + std::to_string(servers.size()) + " servers", "tkdc status");
  return good("stands");
}

Finding check_clocks(const Patient& patient) {
  if (!patient.status.is_object()) return silent();
  for (const json& server : servers_of(patient))
    if (const std::string text = text_of(server, "clock_error"); !text.empty())
      return wrong(who(server) + ": " + text, kSetClock);
  for (const json& server : servers_of(patient))
    if (const std::string text = text_of(server, "clock_warning"); !text.empty())
      return warning(who(server) + ": " + text, kSetClock);
  return good("agree");
}

Finding check_audit_log(const Patient& patient) {
  if (!patient.status.is_object()) return silent();
  if (const std::string text = text_of(patient.status, "audit_trouble"); !text.empty())
    return wrong(text, "df -h " + audit_file(patient) + "; make room there: it goes on by itself");
  if (const std::string text = text_of(patient.status, "audit_behind"); !text.empty())
    return wrong(text, "tkdc audit verify " + audit_file(patient) +
                           " --against the other servers' files; then tkdc release --config " +
                           shell_word(patient.config));
  if (const std::int64_t lost = number_of(patient.status, "audit_failures"); lost > 0)
    return warning(std::to_string(lost) + " events were not written since it started",
                   "tkdc audit verify " + audit_file(patient));
  return good(std::to_string(number_of(patient.status, "audit_lines")) + " lines");
}

// Of two servers.
Finding check_refresh(const Patient& patient, const json& shares) {
  if (const std::string trouble = text_of(shares, "trouble"); !trouble.empty())
    return warning(trouble, "journalctl -u " + patient.unit + "; then tkdc refresh --config " +
                                shell_word(patient.config));
  const std::int64_t refreshed = number_of(shares, "refreshed_at");
  if (refreshed > 0 && std::time(nullptr) - refreshed > kRefreshDueS)
    return warning("the keys were refreshed last on " + format_utc_spaced(refreshed),
                   "systemctl enable --now tkdc-refresh@" + patient.name + ".timer");
  return good(refreshed > 0 ? "refreshed " + format_utc_spaced(refreshed)
                            : "the keys were never refreshed");
}

// Of three servers whose session has no MACs on shares: right where none was ever set to have them.
Finding check_missing_macs(const Patient& patient, const json& shares) {
  const std::string restart = "; systemctl restart " + patient.unit +
                              "; then tkdc shares --config " + shell_word(patient.config) + " deal";
  const std::string set = "share_macs = true below [store] in ";
  const bool is_set = patient.server && patient.server->share_macs;
  if (is_set && truth(patient.status, "session_up"))
    return warning(
        "share_macs is set here, and the session has no MACs on shares, so new keys get "
        "none: it is missing at another server",
        "on the other servers' hosts: " + set +
            "tkdc.toml; systemctl restart tkdc-server@NAME; then here: tkdc shares --config " +
            shell_word(patient.config) + " deal");
  const json last = shares.is_object() ? shares.value("last_audit", json::object()) : json();
  if (!is_set && last.is_object() && !last.empty())
    return warning(
        "the shares had MACs at their last audit, and the session has none, so new keys "
        "get none: " +
            std::string(patient.server ? "share_macs is missing here"
                                       : "share_macs is missing at a server"),
        set + shell_word(patient.config) + restart);
  return good("without MACs on shares: there is nothing to audit");
}

Finding check_shares(const Patient& patient) {
  if (!patient.status.is_object()) return silent();
  const json shares = patient.status.value("shares", json::object());
  if (patient.status.contains("pair")) return check_refresh(patient, shares);
  if (!shares.is_object() || !truth(shares, "macs")) return check_missing_macs(patient, shares);
  const std::string audit = "tkdc shares audit --config " + shell_word(patient.config);
  if (number_of(shares, "alarms") > 0)
    return wrong("an audit found shares that differ",
                 "journalctl -u " + patient.unit + "; docs/operations.md, Audit of shares");
  if (const std::string text = text_of(shares, "audit_warning"); !text.empty())
    return warning(text, audit + "; systemctl enable --now tkdc-audit@" + patient.name + ".timer");
  const json last = shares.value("last_audit", json::object());
  if (!last.is_object() || last.empty())
    return warning("the shares were never audited",
                   audit + "; systemctl enable --now tkdc-audit@" + patient.name + ".timer");
  const std::int64_t refreshed = number_of(shares, "refreshed_at");
  if (refreshed > 0 && std::time(nullptr) - refreshed > kRefreshDueS)
    return warning("the shares were refreshed last on " + format_utc_spaced(refreshed),
                   "systemctl enable --now tkdc-refresh@" + patient.name + ".timer");
  return good("audited " + format_utc_spaced(number_of(last, "at")) +
              (refreshed > 0 ? ", refreshed " + format_utc_spaced(refreshed) : ""));
}

Finding check_dropped_keys(const Patient& patient) {
  if (!patient.status.is_object()) return silent();
  return told(patient, "dropped_warning",
              "on a KDC's host: tkdc reconcile purge --due; systemctl enable --now "
              "tkdc-purge.timer",
              std::to_string(number_of(patient.status, "dropped_keys")) +
                  " removed keys are kept, none beyond its time");
}

Finding check_former_keys(const Patient& patient) {
  if (!patient.status.is_object()) return silent();
  const json own = patient.kind == Kind::kServer ? patient.status
                                                 : patient.status.value("agent", json::object());
  if (!own.is_object() || text_of(own, "former_keys_warning").empty()) return good("none");
  std::string whose;
  for (const std::string& name : texts_of(own, "former_keys"))
    whose += (whose.empty() ? "" : ", ") + name;
  // Root types it: nothing of it is what the daemon says.
  const std::string next = shell_word(patient.config + ".new"), file = shell_word(patient.config);
  return warning("the former keys of " + whose + " are still good here, for a thief too",
                 "once that member has its new ones in use: runuser -u " +
                     std::string(patient.kind == Kind::kAgent ? "tkdc-agent" : "tkdc-server") +
                     " -- tkdc join --folder " + shell_word(patient.folder) +
                     " --forget-former --out " + next + "; put that file in the place of " + file +
                     "; systemctl restart " + shell_word(patient.unit));
}

// A key that has sealed often, or a server that is being repaired.
Finding check_keys(const Patient& patient) {
  return told(
      patient, "warning",
      "tkdc repair status; where a key has sealed too often, on the KDC's host: tkdc rotate "
      "krbtgt",
      "none has sealed too often");
}

Finding check_epochs(const Patient& patient) {
  if (!patient.status.is_object()) return silent();
  std::string text;
  for (const std::string& alarm : texts_of(patient.status, "epoch_alarms"))
    text += (text.empty() ? "" : "; ") + alarm;
  if (text.empty())
    return good(std::to_string(number_of(patient.status, "epochs_left")) + " are left");
  return warning(text, "journalctl -u " + patient.unit +
                           " TKDC_EVENT=session-up: why sessions end; docs/operations.md, Nonce "
                           "epochs");
}

Finding check_revoked(const Patient& patient) {
  if (!patient.status.is_object()) return silent();
  std::size_t windows = 0;
  for (const json& server : servers_of(patient)) {
    if (const auto now = revoked_now(server, std::time(nullptr)))
      return wrong(who(server) + " refuses what is sealed now: revoked from " +
                       format_utc_spaced(now->from_s) + " until " + format_utc_spaced(now->until_s),
                   "wait until then; where nobody should have asked for it, at each of the "
                   "servers: tkdc revoke --lift");
    const auto list = server.find("revoked");
    if (list != server.end() && list->is_array()) windows += list->size();
  }
  for (const json& server : servers_of(patient))
    if (truth(server, "revoked_unwritten"))
      return warning(who(server) + " has a revoked window that is not on its disk",
                     "on that server's host: df -h /var/lib/tkdc, and its journal");
  return good(windows == 0 ? "no window" : "what is sealed now is good");
}

Finding check_broken_checks(const Patient& patient) {
  if (!patient.status.is_object()) return silent();
  if (number_of(patient.status, "checks_broken") <= 0) return good("none");
  return warning("sessions were given up while messages were being verified: " +
                     text_of(patient.status, "checks_broken_with"),
                 "find who restarts that server; docs/operations.md, Broken checks; then tkdc "
                 "release --config " +
                     shell_word(patient.config));
}

// Of all KDCs; this server's host has none of its own.
Finding check_agents(const Patient& patient) {
  return told(
      patient, "agents_warning",
      "on that KDC's host: systemctl status 'tkdc-agent@*'; tkdc doctor; then look at the network "
      "between",
      "those of KDCs have spoken within two minutes");
}

// During an upgrade they differ; at its end three administrators see that they run one program.
Finding check_programs(const Patient& patient) {
  if (!patient.status.is_object()) return silent();
  std::string all;
  bool differ = false;
  const auto servers = servers_of(patient);
  for (const json& server : servers) {
    const std::string program = text_of(server, "program");
    if (program.empty()) return unknown(who(server) + " does not say what it runs: see session");
    differ = differ || program != text_of(servers.front(), "program");
    all += (all.empty() ? "" : ", ") + who(server) + " " + text_of(server, "build");
  }
  if (differ)
    return warning("the servers run different programs: " + all,
                   "end the upgrade; tkdc status shows each one's SHA-256: compare them with the "
                   "packages'");
  return good("the servers run one program");
}

}  // namespace tkdc::cli
