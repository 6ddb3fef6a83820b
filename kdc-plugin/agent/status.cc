// SPDX-License-Identifier: Apache-2.0
#include "agent/status.h"

#include <nlohmann/json.hpp>

#include "base/hex.h"
#include "base/version.h"
#include "service/wire/former_keys.h"
#include "service/wire/times_json.h"

namespace tkdc::agent {
namespace {

using nlohmann::json;

// No server's status is as deep; each level takes stack when it is written out.
constexpr int kMaxDepth = 8;

json parse_shallow(const std::string& text) {
  auto keep = [](int depth, json::parse_event_t, json&) { return depth <= kMaxDepth; };
  return json::parse(text, keep, false);
}

// What the server says about itself, then what the agent knows, which wins.
json server_object(const AgentConfig& config, std::size_t party, const ServerStatus& server) {
  json object = parse_shallow(server.json);
  bool answered = object.is_object();
  if (!answered) object = json::object();
  object["party"] = party;
  object["parties"] = config.servers.size();
  object["address"] = config.servers[party].address;
  object["reachable"] = server.reachable && answered;
  auto session = object.find("session_up");
  if (session == object.end() || !session->is_boolean()) object["session_up"] = false;
  if (!server.reachable)
    object["trouble"] = server.trouble.empty() ? "no connection yet" : server.trouble;
  else if (!answered)
    object["trouble"] = server.trouble.empty() ? "connected, but gave no status" : server.trouble;
  return object;
}

}  // namespace

std::string status_json(const AgentConfig& config, std::span<const ServerStatus> servers,
                        const Counters& counters, std::size_t pending) {
  json document;
  document["agent"] = {{"name", config.name},
                       {"role", config.role == TKDC_ROLE_KDC ? "kdc" : "admin"},
                       {"version", TKDC_VERSION},
                       {"build", kVersionAndCommit}};
  if (auto whose = former_keys(config); !whose.empty()) {
    document["agent"]["former_keys"] = whose;
    document["agent"]["former_keys_warning"] =
        former_keys_warning(whose, "tkdc-agent", config.path);
  }
  document["installation"] = to_hex(config.installation);
  document["servers"] = json::array();
  for (std::size_t party = 0; party < servers.size(); ++party)
    document["servers"].push_back(server_object(config, party, servers[party]));
  // What the servers say counts: a server in the weaker mode makes the whole weaker.
  // Where none says anything, nothing is known: what this agent expects is no mode that runs.
  std::string security = "unknown";
  for (const json& server : document["servers"]) {
    auto said = server.find("security");
    if (said == server.end()) continue;
    if (security == "unknown") security = config.security;
    if (*said != security) security = "semi-honest";
  }
  document["security_expected"] = config.security;
  document["security"] = security;
  document["pending"] = pending;
  json& numbers = document["counters"];
  for (std::size_t status = 0; status < counters.finished.size(); ++status)
    numbers[status_word(static_cast<tkdc_status>(status))] = counters.finished[status];
  numbers["late_replies"] = counters.late_replies;
  numbers["malformed_replies"] = counters.malformed_replies;
  numbers["malformed_requests"] = counters.malformed_requests;
  numbers["slow_clients"] = counters.slow_clients;
  numbers["clients"] = counters.clients;
  numbers["clients_accepted"] = counters.clients_accepted;
  OperationTotals times;
  counters.times.add_to(times);
  document["times"] = times_json(times);
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace tkdc::agent
