// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/status_table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <optional>
#include <vector>

#include "base/machine.h"
#include "base/utc_time.h"
#include "tools/cli/commands.h"
#include "tools/cli/operation_time.h"

namespace tkdc::cli {
namespace {

using nlohmann::json;
using Row = std::vector<std::string>;

// A cell: whatever the field holds, "-" when there is none.
std::string cell(const json& object, const char* field) {
  auto it = object.find(field);
  if (it == object.end() || it->is_null()) return "-";
  std::string text = it->is_string() ? it->get<std::string>()
                                     : it->dump(-1, ' ', true, json::error_handler_t::replace);
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

bool truth(const json& object, const char* field) {
  auto it = object.find(field);
  return it != object.end() && it->is_boolean() && it->get<bool>();
}

const json& member(const json& object, const char* field) {
  static const json nothing = json::object();
  auto it = object.find(field);
  return it != object.end() && it->is_object() ? *it : nothing;
}

std::vector<json> servers_of(const json& document) {
  auto it = document.find("servers");
  if (it == document.end() || !it->is_array()) return {};
  return {it->begin(), it->end()};
}

std::string layout(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i)
      line += " " + row[i] + std::string(widths[i] - row[i].size() + 1, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::uint64_t count_of(const json& server, const char* field) {
  auto it = server.find(field);
  return it != server.end() && it->is_number_unsigned() ? it->get<std::uint64_t>() : 0;
}

// The coarsest unit that says something: "3 d", "5 h", "12 min", "40 s".
std::string for_how_long(std::int64_t seconds) {
  constexpr std::pair<std::int64_t, const char*> kUnits[] = {
      {86'400, " d"}, {3'600, " h"}, {60, " min"}};
  for (const auto& [unit, name] : kUnits)
    if (seconds >= 2 * unit) return std::to_string(seconds / unit) + name;
  return std::to_string(seconds) + " s";
}

std::string uptime_of(const json& server) {
  if (!server.contains("uptime_s")) return "-";
  return for_how_long(static_cast<std::int64_t>(count_of(server, "uptime_s")));
}

// The farthest of the other servers' clocks.
std::string clocks_of(const json& server) {
  const auto clocks = server.find("clocks");
  if (clocks == server.end() || !clocks->is_array() || clocks->empty()) return "-";
  double most_ms = 0;
  for (const json& clock : *clocks)
    if (const auto ahead = clock.is_object() ? clock.find("ahead_ms") : clock.end();
        ahead != clock.end() && ahead->is_number())
      most_ms = std::max(most_ms, std::abs(ahead->get<double>()));
  char text[40];
  std::snprintf(text, sizeof text, "%.0f ms", most_ms);
  return text;
}

// How much is free of the fullest: of the store's map, or of what else there is.
std::string room_of(const json& server, bool map) {
  const auto disks = server.find("disks");
  if (disks == server.end() || !disks->is_array()) return "-";
  std::optional<std::uint64_t> least;
  for (const json& disk : *disks) {
    if (!disk.is_object() || (cell(disk, "of") == "store map") != map) continue;
    const std::uint64_t total = count_of(disk, "total_mib");
    if (total == 0) continue;
    const std::uint64_t free =
        std::min<std::uint64_t>(100, 100 * count_of(disk, "free_mib") / total);
    least = std::min(free, least.value_or(free));
  }
  return least ? std::to_string(*least) + " % free" : "-";
}

std::string certificate_of(const json& server) {
  const std::int64_t now = std::time(nullptr);
  const auto until = parse_utc(cell(server, "certificate_until"), now);
  if (!until) return "-";
  return *until <= now ? "ENDED" : std::to_string((*until - now) / 86'400) + " d";
}

std::string last_audit_of(const json& server) {
  const json& audit = member(member(server, "shares"), "last_audit");
  if (count_of(audit, "at") == 0) return "-";
  const std::string day =
      format_utc(static_cast<std::int64_t>(count_of(audit, "at"))).substr(0, 10);
  return count_of(audit, "failed") == 0 ? day : day + ", " + cell(audit, "failed") + " FAILED";
}

// Half of its operations since its start took no longer, and 99 of 100.
std::string latency_of(const json& server) {
  constexpr double kMedian = 0.5, kLate = 0.99, kFewMs = 10;
  const Histogram all = together(times_of(server));
  if (all.count() == 0) return "-";
  std::string text;
  for (const double part : {kMedian, kLate}) {
    const double ms = quantile(all, part);
    char one[40];
    std::snprintf(one, sizeof one, "%s%.*f", ms < all.bounds.back() ? "" : ">", ms < kFewMs, ms);
    text += text.empty() ? one : std::string(", ") + one;
  }
  return text + " ms";
}

// How each server is, by its own word; empty where none says anything.
std::string health_of(const std::vector<json>& servers) {
  std::vector<Row> rows{{"SERVER", "UP", "KEYS", "EPOCHS LEFT", "P50, P99", "CLOCKS WITHIN", "DISK",
                         "MAP", "CERTIFICATE", "SHARES AUDITED"}};
  bool said = false;
  for (const json& server : servers) {
    if (!server.is_object()) continue;
    rows.push_back({cell(server, "party"), uptime_of(server), cell(server, "keys"),
                    cell(server, "epochs_left"), latency_of(server), clocks_of(server),
                    room_of(server, false), room_of(server, true), certificate_of(server),
                    last_audit_of(server)});
    said = said || std::any_of(rows.back().begin() + 1, rows.back().end(),
                               [](const std::string& one) { return one != "-"; });
  }
  return said ? "\n" + layout(rows) : "";
}

// Windows of sealing whose tickets the server refuses.
std::string revoked_notice(const json& server, const std::string& who) {
  auto revoked = server.find("revoked");
  if (revoked == server.end() || !revoked->is_array() || revoked->empty()) return {};
  std::string text = who + "refuses tickets sealed";
  for (std::size_t k = 0; k < revoked->size(); ++k)
    if ((*revoked)[k].is_object())
      text += (k == 0 ? " from " : ", from ") + cell((*revoked)[k], "from") + " until " +
              cell((*revoked)[k], "until");
  text += "; refused so far: " + cell(server, "tickets_revoked");
  if (server.contains("lift_waits_for"))
    text += "; agrees to lift this, as these have not yet: " + cell(server, "lift_waits_for");
  if (truth(server, "revoked_unwritten")) text += "; NOT ON ITS DISK yet, see its journal";
  return text + "\n";
}

// Who has had its quota of what stands ready, so that others find some: server 0 counts it. Keys in
// `field` of `counts`; they were served as `how` says.
std::string kept_for_others(const json& server, const json& counts, const char* field,
                            const std::string& how) {
  std::string text;
  if (count_of(counts, field) != 0)
    text += "; " + how + ", since one key had had its quota: " + cell(counts, field);
  if (const auto agents = server.find("agents"); agents != server.end() && agents->is_array())
    for (const json& agent : *agents)
      if (agent.is_object() && count_of(agent, "garbled_had") != 0)
        text += "; since agent " + cell(agent, "name") + " had: " + cell(agent, "garbled_had");
  return text;
}

// Operations that are always shared, because no circuit of theirs can be garbled.
std::string unfit_of(const json& server) {
  const auto unfit = server.find("garbled_unfit");
  if (unfit == server.end() || !unfit->is_array() || unfit->empty()) return {};
  return "; cannot be garbled: " + std::to_string(unfit->size()) + " kinds, so " +
         cell({{"text", unfit->front()}}, "text");
}

// Garbled circuits: what stands ready, or why there are none where this server has them configured.
std::string garbling_of(const json& server) {
  if (!server.contains("garbling") || cell(server, "garbling") == "never") return {};
  if (!truth(server, "session_up")) return {};
  // Which stands there unless an administrator sets another; servers may be near.
  const bool unasked = cell(server, "garbling") == "far";
  if (unasked && (!truth(server, "garbles") || count_of(server, "garbled_kinds") == 0)) return {};
  if (!truth(server, "garbles"))
    return "data.garbling is \"" + cell(server, "garbling") +
           "\" here, and the session has no garbled circuits: another server says \"never\", has "
           "another data.garbled_mb, or is of a release that garbles otherwise\n";
  return "garbled circuits: " + cell(server, "garbled_ready") + " ready, of " +
         cell(server, "garbled_kinds") + " kinds; " + cell(server, "garbled_jobs") +
         " operations took one, " + cell(server, "garbled_missed") + " found none left" +
         kept_for_others(server, server, "garbled_key_had", "shared") + unfit_of(server) + "\n";
}

// Nothing where none are kept.
std::string tables_notice(const json& pair, const std::string& who) {
  if (count_of(pair, "tables_most") == 0) return {};
  std::string text = who + "lookup tables: " + cell(pair, "tables_forward") + " to seal, " +
                     cell(pair, "tables_inverse") + " to open; they served " +
                     cell(pair, "tables_jobs") + " operations, " + cell(pair, "tables_missed") +
                     " went without";
  if (pair.contains("tables_last_s"))
    text += "; at the present rate they last " + cell(pair, "tables_last_s") + " s";
  return text + "\n";
}

// Keys of a pool that was given up come into a session by a circuit.
std::string pools_notice(const json& pair, const std::string& who) {
  const std::uint64_t pools = count_of(pair, "pools"), spent = count_of(pair, "pools_spent");
  std::string text = who + "pools: " + cell(pair, "pools");
  if (spent > 0)
    text += ", " + cell(pair, "pools_spent") +
            " of them empty, whose keys take longer to come "
            "into a session";
  if (spent < pools)
    text += std::string(", the poorest ") + (spent > 0 ? "of the others " : "") + "with " +
            cell(pair, "pool_least") + " blocks left";
  return text + "\n";
}

// Of two servers: what stands ready, so that no login waits for it.
std::string pair_notice(const json& server, const std::string& who) {
  const json& pair = member(server, "pair");
  if (!truth(server, "session_up") || !pair.contains("prepared")) return {};
  std::string text = who + "circuits: " + cell(pair, "prepared") + " ready; " +
                     cell(pair, "found") + " operations took one, " + cell(pair, "missed") +
                     " waited for theirs" +
                     kept_for_others(server, pair, "key_had", "without what is ready") + "\n" +
                     tables_notice(pair, who);
  if (count_of(pair, "pools") > 0)
    text += pools_notice(pair, who);
  else
    text += who + "no pool yet of which new keys are made: creating keys waits for it\n";
  return text;
}

// What audits of shares found; nothing mends it by itself.
std::string shares_notice(const json& server, const std::string& who) {
  const json& shares = member(server, "shares");
  if (!shares.is_object()) return {};
  if (count_of(shares, "alarms") == 0)
    return shares.contains("audit_warning") ? who + cell(shares, "audit_warning") + "\n" : "";
  std::string text =
      who + "SHARES DIFFER, found " + cell(shares, "alarms") + " times; see its journal";
  if (auto named = shares.find("alarms_named");
      named != shares.end() && named->is_array() && !named->empty())
    text += ": " + cell({{"text", named->front()}}, "text");
  return text + "\n";
}

// What wants looking at while the server works.
std::string notices_of(const json& server) {
  const std::string who = "  server " + cell(server, "party") + ": ";
  std::string text;
  if (server.contains("warning")) text += who + cell(server, "warning") + "\n";
  if (count_of(server, "logins_unheralded") != 0)
    text += who + cell(server, "logins_unheralded") +
            " login replies without preauthentication; right only for principals that do not "
            "require it\n";
  for (const char* said : {"clock_error", "clock_warning", "certificate_warning", "audit_trouble",
                           "audit_behind", "disk_warning", "backup_warning", "dropped_warning",
                           "former_keys_warning", "agents_warning"})
    if (server.contains(said)) text += who + cell(server, said) + "\n";
  if (count_of(server, "audit_failures") != 0)
    text += who + cell(server, "audit_failures") +
            " events were not written to its audit log since it started (tkdc audit verify)\n";
  text += revoked_notice(server, who);
  if (const std::string garbling = garbling_of(server); !garbling.empty()) text += who + garbling;
  text += pair_notice(server, who) + shares_notice(server, who);
  if (auto alarms = server.find("epoch_alarms"); alarms != server.end() && alarms->is_array())
    for (const json& alarm : *alarms) text += who + cell({{"text", alarm}}, "text") + "\n";
  if (count_of(server, "keys_limited") != 0)
    text += who + cell(server, "keys_limited") +
            " operations refused because one key was asked for too often (limits.user_key_per_s, "
            "limits.service_key_per_s)\n";
  if (count_of(server, "agents_limited") != 0)
    text += who + cell(server, "agents_limited") +
            " operations refused because an agent asked too often (limits.agent_per_s)\n";
  if (count_of(server, "checks_broken") != 0)
    text += who + "sessions given up while messages were being verified: " +
            cell(server, "checks_broken_with") +
            "; without restarts to explain them, one of the servers may be breaking off "
            "where it would be found\n";
  return text;
}

// What the host's other agents say that wants looking at.
std::string other_agents_notices(const json& document) {
  std::string text;
  const auto others = document.find("other_agents");
  if (others == document.end() || !others->is_array()) return text;
  for (const json& agent : *others)
    for (const char* said : {"warning", "former_keys_warning"})
      if (agent.is_object() && agent.contains(said))
        text += "  agent " + cell(agent, "name") + ": " + cell(agent, said) + "\n";
  return text;
}

// The host's other agents, those with trouble.
std::string other_agents_of(const json& document) {
  std::string text;
  auto others = document.find("other_agents");
  if (others == document.end() || !others->is_array()) return text;
  for (const json& agent : *others) {
    if (!agent.is_object() || !agent.contains("trouble")) continue;
    text += "  " + cell(agent, "name") + ": " + cell(agent, "trouble");
    if (!truth(agent, "reachable"))
      text +=
          "; while the agent of kadmind is away no key can be made, while krb5kdc's is, no "
          "ticket";
    text += "\n";
  }
  return text;
}

// Which program the servers say that they run: one, or which of them another.
std::string programs_of(const std::vector<json>& servers, std::size_t parties) {
  std::vector<Row> rows;
  bool one = true;
  for (const json& server : servers) {
    if (!server.is_object() || !server.contains("program")) continue;
    const char* version = server.contains("build") ? "build" : "version";
    rows.push_back({"server " + cell(server, "party"), cell(server, "program"),
                    "version " + cell(server, version)});
    one = one && rows.back()[1] == rows.front()[1];
  }
  if (rows.empty()) return {};
  if (one && rows.size() == parties)
    return std::string("\nprogram of ") + (parties == 2 ? "both" : "all three") +
           " servers: " + rows[0][1] + ", " + rows[0][2] + "\n";
  return std::string("\nprograms of the servers") + (one ? "" : ", which DIFFER") + ":\n" +
         layout(rows);
}

}  // namespace

std::size_t parties_of(const json& document) {
  for (const json& server : servers_of(document))
    if (server.is_object() && count_of(server, "parties") == 2) return 2;
  return 3;
}

std::optional<RevokedTime> revoked_now(const json& server, std::int64_t now_s) {
  const auto revoked = server.is_object() ? server.find("revoked") : server.end();
  if (revoked == server.end() || !revoked->is_array()) return std::nullopt;
  for (const json& window : *revoked) {
    if (!window.is_object()) continue;
    const auto from = parse_utc(cell(window, "from"), now_s);
    const auto until = parse_utc(cell(window, "until"), now_s);
    if (from && until && *from <= now_s && now_s < *until) return RevokedTime{*from, *until};
  }
  return std::nullopt;
}

std::vector<std::string> faults_of(const json& document) {
  std::vector<std::string> faults;
  const auto now_s = static_cast<std::int64_t>(wall_s());
  const std::vector<json> servers = servers_of(document);
  if (servers.size() != (document.contains("of_server") ? 1 : parties_of(document)))
    faults.push_back("servers: the status has " + std::to_string(servers.size()));
  for (const json& server : servers) {
    const std::string who = "server " + cell(server, "party") + " ";
    const std::string trouble = cell(server, "trouble");
    if (!truth(server, "reachable"))
      faults.push_back(who + "reachable: " + trouble);
    else if (!truth(server, "session_up"))
      faults.push_back(
          who + "session: " +
          (server.is_object() && server.contains("latched") ? cell(server, "latched") : trouble));
    if (const auto revoked = revoked_now(server, now_s))
      faults.push_back(who +
                       "revoked: tickets that are sealed now were revoked, so nobody can log "
                       "in until " +
                       format_utc(revoked->until_s));
    if (server.is_object() && server.contains("clock_error"))
      faults.push_back(who + "clocks: " + cell(server, "clock_error"));
    if (server.is_object() && server.contains("audit_trouble"))
      faults.push_back(who + "audit: " + cell(server, "audit_trouble"));
    if (server.is_object() && server.contains("audit_behind"))
      faults.push_back(who + "audit: " + cell(server, "audit_behind"));
  }
  const auto others = document.find("other_agents");
  if (others != document.end() && others->is_array())
    for (const json& agent : *others)
      if (!agent.is_object() || agent.contains("trouble"))
        faults.push_back("agent " + cell(agent, "name") + ": " + cell(agent, "trouble"));
  if (document.is_object() && document.contains("database_error"))
    faults.push_back("database: " + cell(document, "database_error"));
  return faults;
}

bool is_healthy(const json& document) { return faults_of(document).empty(); }

bool is_spare(const json& document) {
  auto others = document.find("other_agents");
  return others != document.end() && others->is_array() &&
         std::ranges::any_of(
             *others, [](const json& agent) { return agent.is_object() && truth(agent, "spare"); });
}

std::string status_table(const json& document) {
  const json& agent = member(document, "agent");
  const json& counters = member(document, "counters");
  const std::size_t parties = parties_of(document);
  std::string text =
      std::string("tkdc is ") + (is_healthy(document) ? "healthy" : "DEGRADED") +
      (is_spare(document) ? "; this is a spare KDC: krb5kdc serves, no kadmind runs here and no "
                            "agent for it, until the host is promoted"
                          : "") +
      "\n\n";
  if (document.contains("of_server"))
    text += layout({{"server", cell(document, "of_server") + ", by its own word alone"},
                    {"installation", cell(document, "installation")}});
  else
    text +=
        layout({{"agent", cell(agent, "name") + " (role " + cell(agent, "role") + ", version " +
                              cell(agent, agent.contains("build") ? "build" : "version") + ")"},
                {"installation", cell(document, "installation")},
                {"operations", cell(counters, "ok") + " done, " + cell(document, "pending") +
                                   " pending, " + cell(counters, "unavailable") + " unavailable, " +
                                   cell(counters, "inconsistent") + " inconsistent"},
                {"clients", cell(counters, "clients")}});
  std::vector<Row> rows{{"SERVER", "ADDRESS", "REACHABLE", "SESSION", "LANES", "BACKEND", "RECORDS",
                         "PENDING", "DONE", "REFUSED", "FAILED"}};
  std::string troubles, notices;
  if (agent.contains("former_keys_warning"))
    notices += "  agent " + cell(agent, "name") + ": " + cell(agent, "former_keys_warning") + "\n";
  for (const json& server : servers_of(document)) {
    if (!server.is_object()) continue;
    rows.push_back(
        {cell(server, "party"), cell(server, "address"), truth(server, "reachable") ? "yes" : "NO",
         truth(server, "session_up") ? "up" : "DOWN", cell(server, "lanes"),
         cell(server, "backend"), cell(server, "records"), cell(server, "pending_jobs"),
         cell(server, "jobs_done"), cell(server, "jobs_refused"), cell(server, "jobs_failed")});
    notices += notices_of(server);
    if (server.contains("trouble"))
      troubles += "  server " + cell(server, "party") + ": " + cell(server, "trouble") + "\n";
    else if (!truth(server, "session_up"))
      troubles += "  server " + cell(server, "party") + ": has no session with its " +
                  (parties == 2 ? "peer" : "two peers") + "; see its journal\n";
  }
  text += "\n" + layout(rows) + health_of(servers_of(document));
  troubles += other_agents_of(document);
  if (document.contains("database_error"))
    troubles += "  database: " + cell(document, "database_error") + "\n";
  if (document.contains("database_warning"))
    notices += "  database: " + cell(document, "database_warning") + "\n";
  notices += other_agents_notices(document);
  if (!troubles.empty()) text += "\n" + troubles;
  if (!notices.empty()) text += "\n" + notices;
  text += programs_of(servers_of(document), parties);
  return text + "\nsecurity: " + (parties == 2 ? "two servers, " : "") +
         cell(document, "security") + " (" + security_meaning(cell(document, "security"), parties) +
         ")\n";
}

}  // namespace tkdc::cli
