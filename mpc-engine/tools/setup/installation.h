// SPDX-License-Identifier: Apache-2.0
// A whole installation in one place: its ids, keys and configuration files, to try tkdc out.
//
// Whoever makes it has every secret of all servers for that moment; an installation that is
// to be trusted is made by its members, each for itself (tools/setup/member.h). Secret: the CURVE
// secret keys, the TLS private keys and the store keys. No Kerberos key exists at this time.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "base/result.h"
#include "tools/setup/tree.h"

namespace tkdc::setup {

inline constexpr int kDefaultBasePort = 7700;

struct Plan {
  std::string realm;
  int base_port = kDefaultBasePort;
  std::optional<int> lanes;  // none: as many as are usual
  std::array<std::string, 3> hosts{"127.0.0.1", "127.0.0.1", "127.0.0.1"};
  std::string security = "malicious";
  int servers = 3;  // or 2
};

// Hosts become canonical. Error: which value of the plan cannot be used, and why.
Result<void> check_plan(Plan& plan);
// Of the same values for one member.
Result<void> check_realm(const std::string& realm);
Result<void> check_base_port(int base_port);
Result<void> check_lanes(int lanes, int servers);
constexpr int usual_lanes(int servers) { return servers == 2 ? 1 : 2; }

// Writes a folder for each server, agent-kdc and agent-admin.
Result<void> write_installation(const Plan& plan, Tree& tree);

}  // namespace tkdc::setup
