// SPDX-License-Identifier: Apache-2.0
// All there is in a run: servers, agents, workload, and what is known of keys.
#pragma once

#include <optional>

#include "sim/agents.h"
#include "sim/hosts.h"
#include "sim/model.h"

namespace tkdc::sim {

struct Realm {
  Realm();
  ~Realm();

  std::vector<std::unique_ptr<ServerHost>> servers;  // by party
  std::unique_ptr<Agent> admin;
  std::vector<std::unique_ptr<Agent>> kdcs;
  std::vector<Agent*> agents() const;
  Model model;
};

}  // namespace tkdc::sim
