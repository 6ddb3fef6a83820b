// SPDX-License-Identifier: Apache-2.0
// How this host's other agents are: an administrator, or a monitor, asks one and is told of all.
//
// Whoever may read the agents' agent.toml goes by these. Who may only look at the status does not
// see them; he goes by the units that start with the host, which all may see, and asks each one's
// status socket. Called by `tkdc status` and tkdc-exporter. Nothing here is secret.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"
#include "tools/cli/ask_status.h"

namespace tkdc::cli {

// Where a host that was set up from the packages has what tells of its agents.
struct AgentPlaces {
  std::string configs = "/etc/tkdc";          // NAME/agent.toml
  std::string units = "/etc/systemd/system";  // links to the units that start with the host
  // NAME, a folder while its unit runs, with agent.sock; status/NAME.sock, where it has one.
  std::string sockets = "/run/tkdc";
};

// Of each: `name`, `socket`; `reachable`, its `role` and `installation` where it answered;
// `trouble` where it does not, or does not see all servers; `running` and `warning` where its unit
// runs and nobody can ask it. All are asked at once. `asked`: the socket of the one that was asked.
// `config`: its agent.toml if that was named. By that, those of another installation are left out.
nlohmann::json other_agents(const std::string& asked, const std::string& config = {},
                            const AgentPlaces& places = {});

// As ask_status(), at the same time as of the others: with `other_agents` where there are some, and
// none that says that it is of another installation.
Result<nlohmann::json> ask_host(const StatusPlace& place, const std::string& config = {},
                                const AgentPlaces& places = {});

}  // namespace tkdc::cli
