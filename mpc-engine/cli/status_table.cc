// SPDX-License-Identifier: Apache-2.0
#include "cli/status_table.h"

#include <algorithm>
#include <vector>

#include "cli/commands.h"

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

}  // namespace

bool is_healthy(const json& document) {
  std::vector<json> servers = servers_of(document);
  return servers.size() == 3 && std::all_of(servers.begin(), servers.end(), [](const json& s) {
           return s.is_object() && truth(s, "reachable") && truth(s, "session_up");
         });
}

std::string status_table(const json& document) {
  const json& agent = member(document, "agent");
  const json& counters = member(document, "counters");
  std::string text =
      std::string("tkdc is ") + (is_healthy(document) ? "healthy" : "DEGRADED") + "\n\n";
  text += layout({{"agent", cell(agent, "name") + " (role " + cell(agent, "role") + ", version " +
                                cell(agent, "version") + ")"},
                  {"installation", cell(document, "installation")},
                  {"operations", cell(counters, "ok") + " done, " + cell(document, "pending") +
                                     " pending, " + cell(counters, "unavailable") +
                                     " unavailable, " + cell(counters, "inconsistent") +
                                     " inconsistent"},
                  {"clients", cell(counters, "clients")}});
  std::vector<Row> rows{{"SERVER", "ADDRESS", "REACHABLE", "SESSION", "LANES", "BACKEND",
                         "PENDING", "DONE", "FAILED"}};
  std::string troubles;
  for (const json& server : servers_of(document)) {
    if (!server.is_object()) continue;
    rows.push_back({cell(server, "party"), cell(server, "address"),
                    truth(server, "reachable") ? "yes" : "NO",
                    truth(server, "session_up") ? "up" : "DOWN", cell(server, "lanes"),
                    cell(server, "backend"), cell(server, "pending_jobs"),
                    cell(server, "jobs_done"), cell(server, "jobs_failed")});
    if (server.contains("trouble"))
      troubles += "  server " + cell(server, "party") + ": " + cell(server, "trouble") + "\n";
    else if (!truth(server, "session_up"))
      troubles += "  server " + cell(server, "party") +
                  ": has no session with its two peers; see its journal\n";
  }
  text += "\n" + layout(rows);
  if (!troubles.empty()) text += "\n" + troubles;
  return text + "\nsecurity: " + cell(document, "security") + " (" + kSecurityMeaning + ")\n";
}

}  // namespace tkdc::cli
