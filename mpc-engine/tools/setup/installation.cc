// SPDX-License-Identifier: Apache-2.0
#include "tools/setup/installation.h"

#include "session/session.h"
#include "tools/setup/configuration.h"
#include "tools/setup/host_name.h"
#include "tools/setup/member.h"
#include "tools/setup/roster.h"

namespace tkdc::setup {
namespace {

Introduction server_of(const Plan& plan, const Introduction& common, int party) {
  Introduction out = common;
  out.host = plan.hosts[static_cast<std::size_t>(party)];
  ServerPart server;
  server.party = party;
  server.lanes = plan.lanes.value_or(usual_lanes(plan.servers));
  server.control_port = plan.base_port + party;
  server.data_port = plan.base_port + kDataPortOffset + party;
  out.part = server;
  return out;
}

// The members' keys; what is public of them, together.
Result<Roster> write_keys(const Plan& plan, Tree& tree) {
  Introduction common;
  common.installation = draw_installation();
  common.realm = plan.realm;
  common.security = plan.security == security_name(Security::kMalicious) ? Security::kMalicious
                                                                         : Security::kSemiHonest;
  common.servers = plan.servers;
  Roster roster;
  for (int party = 0; party < plan.servers; ++party) {
    Introduction& server = roster.servers.emplace_back(server_of(plan, common, party));
    Result<void> made = tree.folder(server.name());
    if (made) made = tree.folder(server.name() + "/store");
    if (made) made = write_server_keys(tree, server.name() + "/", server);
    if (!made) return made.error();
  }
  for (const auto& [name, role] :
       {std::pair("agent-kdc", "kdc"), std::pair("agent-admin", "admin")}) {
    Introduction agent = common;
    agent.part = AgentPart{name, role};
    Result<void> made = tree.folder(name);
    if (made) made = write_agent_keys(tree, std::string(name) + "/", agent);
    if (!made) return made.error();
    roster.agents.push_back(std::move(agent));
  }
  return roster;
}

// Servers on one host are a demonstration, and only where it is said to be this machine.
Result<void> check_hosts(Plan& plan) {
  for (std::size_t party = 0; party < static_cast<std::size_t>(plan.servers); ++party) {
    auto host = canonical_host(plan.hosts[party]);
    if (!host) return fail("--host" + std::to_string(party) + ": " + host.error().message);
    plan.hosts[party] = *host;
    for (std::size_t other = 0; other < party; ++other)
      if (plan.hosts[other] == *host && !is_this_machine(*host))
        return fail("--host" + std::to_string(other) + " and --host" + std::to_string(party) +
                    " are both " + *host +
                    ": one host for each server, or who has that host has the keys");
  }
  return {};
}

}  // namespace

Result<void> check_realm(const std::string& realm) {
  if (good_realm(realm)) return {};
  return fail("--realm " + realm + ": letters, digits, '.', '-' and '_' only");
}

Result<void> check_base_port(int base_port) {
  constexpr int kLast = 65535 - kDataPortOffset - 2;
  if (base_port >= 1024 && base_port <= kLast) return {};
  return fail("--base-port must be from 1024 to " + std::to_string(kLast));
}

Result<void> check_lanes(int lanes, int servers) {
  if (servers == 2 && lanes != 1) return fail("--lanes must be 1 with two servers");
  if (lanes >= 1 && lanes <= kMaxLanes) return {};
  return fail("--lanes must be from 1 to " + std::to_string(kMaxLanes));
}

Result<void> check_plan(Plan& plan) {
  Result<void> checked = check_realm(plan.realm);
  if (checked) checked = check_base_port(plan.base_port);
  if (checked) checked = check_lanes(plan.lanes.value_or(usual_lanes(plan.servers)), plan.servers);
  return checked ? check_hosts(plan) : checked;
}

Result<void> write_installation(const Plan& plan, Tree& tree) {
  auto roster = write_keys(plan, tree);
  if (!roster) return roster.error();
  for (const Introduction& server : roster->servers) {
    const std::string toml =
        server_toml(*roster, server.server()->party, listen_host(server.host), {});
    if (Result<void> made = tree.file(server.name() + "/tkdc.toml", toml); !made) return made;
  }
  for (const Introduction& agent : roster->agents)
    if (Result<void> made = tree.file(agent.name() + "/agent.toml", agent_toml(*roster, agent, {}));
        !made)
      return made;
  return {};
}

}  // namespace tkdc::setup
