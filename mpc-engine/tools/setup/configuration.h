// SPDX-License-Identifier: Apache-2.0
// The text of a server's tkdc.toml and of an agent's agent.toml, from the members' introductions.
// Nothing in it is secret; it names the files that are.
#pragma once

#include <string>

#include "tools/setup/roster.h"

namespace tkdc::setup {

// Where a member keeps what it writes.
struct Layout {
  std::string store = "store", audit = "audit.jsonl";  // a server's
  std::string socket = "agent.sock", socket_group, operations_log = "operations.jsonl";
  std::string secrets;  // before the names of secret files; "%d/" where they are credentials
};

// Of a member's folder: where config/'s units read it, /etc/tkdc/NAME, what is written lies in the
// units' folders; else everything is beside the file.
Layout layout_of(const std::string& folder);

// `listen`: a canonical host.
std::string server_toml(const Roster& roster, int party, const std::string& listen,
                        const Layout& layout);
std::string agent_toml(const Roster& roster, const Introduction& agent, const Layout& layout);

}  // namespace tkdc::setup
