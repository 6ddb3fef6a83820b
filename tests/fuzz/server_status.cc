// SPDX-License-Identifier: Apache-2.0
// What a server says of itself, within an agent's status: whatever it is, the document is JSON
// again, and what the agent knows itself stands in it.
#include "agent/status.h"

#include <nlohmann/json.hpp>

#include "fuzz.h"

using tkdc::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using nlohmann::json;
  tkdc::agent::AgentConfig config;
  config.servers.resize(3);
  for (auto& server : config.servers) server.address = "tcp://127.0.0.1:1";
  std::array<tkdc::agent::ServerStatus, 3> servers;
  servers[0].reachable = servers[1].reachable = true;
  servers[1].json.assign(reinterpret_cast<const char*>(data), size);
  const json shown = json::parse(tkdc::agent::status_json(config, servers, {}, 0), nullptr, false);
  require(shown.is_object() && shown["servers"].size() == 3);
  const json& said = shown["servers"][1];
  require(said["party"] == 1 && said["address"] == config.servers[1].address);
  require(said["reachable"].is_boolean() && said["session_up"].is_boolean());
  require(shown["security_expected"] == config.security);
  require(shown["security"] == config.security || shown["security"] == "semi-honest" ||
          (shown["security"] == "unknown" && !said.contains("security")));
  return 0;
}
