// SPDX-License-Identifier: Apache-2.0
// A new installation: its ids, keys and configuration files.
//
// Drawn at one place because the parts must name each other; each folder is
// then moved to the machine and the administrator it belongs to, after which
// this place must not keep a copy. Secret: the CURVE secret keys, the TLS
// private keys and the store keys. No Kerberos key exists at this time.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/cli/tree.h"

namespace tkdc::cli {

inline constexpr int kDefaultBasePort = 7700;
inline constexpr int kDataPortOffset = 10;  // control: base + party, data: base + 10 + party

struct Plan {
  std::string realm;
  int base_port = kDefaultBasePort;
  int lanes = 2;
  std::array<std::string, 3> hosts{"127.0.0.1", "127.0.0.1", "127.0.0.1"};
  std::string security = "malicious";
};

// Error: which value of the plan cannot be used, and why.
Result<void> check_plan(const Plan& plan);

// Writes server0..2, agent-kdc and agent-admin.
Result<void> write_installation(const Plan& plan, Tree& tree);

}  // namespace tkdc::cli
