// SPDX-License-Identifier: Apache-2.0
// What a unit of config/ has to know of its member: which of its secrets are credentials, and which
// addresses it may talk to. Written as a drop-in of the unit's instance, from the configuration
// that the unit reads; whoever wants more says it in a drop-in of his own.
//
// Used by `tkdc join` and `tkdc unit`. Nothing in it is secret.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace tkdc::setup {

struct UnitFacts {
  std::string unit;                // tkdc-server@server0
  std::string configuration;       // the file it reads
  std::vector<std::string> hosts;  // whom it talks to: names and addresses, without ports
  bool any_address = false;        // it may talk to everybody
};

// Of an agent.toml, or a tkdc.toml. Error: it cannot be read, or it does not say where an agent is.
Result<UnitFacts> unit_facts(const std::string& configuration, bool any_address = false);

// Where systemd looks for it.
std::string drop_in_path(const std::string& unit);

// The addresses of a name or an address, as systemd writes them. Error: it has none now.
using LookUp = std::function<Result<std::set<std::string>>(const std::string& host)>;
Result<std::set<std::string>> look_up(const std::string& host);

// Names are looked up now, as the unit does it when it connects; where there are any, name servers
// are allowed too. Error: a name has no address.
Result<std::string> drop_in_text(const UnitFacts& facts, const LookUp& look = look_up);

// In place of the one that was written before. Error: there is a file of somebody else's.
Result<void> write_drop_in(const std::string& path, const std::string& text);

}  // namespace tkdc::setup
