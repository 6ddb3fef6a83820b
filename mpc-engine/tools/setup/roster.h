// SPDX-License-Identifier: Apache-2.0
// Whether introductions make one installation together: its servers, three or two, that differ in
// what must differ and agree in what must agree, and agents that the servers can tell apart.
//
// Used by `tkdc join` and by `tkdc init` for a whole installation. Pure; nothing is secret.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/setup/introduction_file.h"

namespace tkdc::setup {

struct Roster {
  std::vector<Introduction> servers;  // by party: three, or two
  std::vector<Introduction> agents;   // by name
  // What members were before, whose former keys are still good.
  std::map<std::string, Introduction> former;  // by name
};

// Error: which files do not go together, and why.
Result<Roster> make_roster(const std::vector<IntroductionFile>& all);
// Notes what they were. Error: it has a key of another member's.
Result<void> add_former(Roster& roster, const std::vector<IntroductionFile>& former);

}  // namespace tkdc::setup
