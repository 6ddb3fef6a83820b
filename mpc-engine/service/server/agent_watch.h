// SPDX-License-Identifier: Apache-2.0
// Whether the agents of KDCs live, as a server sees it: each says something every half minute
// (kSpeakAfter, kdc-plugin/agent/jobs.h). For the server's status. Nothing is secret. Any thread.
#pragma once

#include <span>
#include <string>

#include "service/server/config.h"

namespace tkdc {

inline constexpr long long kSilentAfterS = 120;

struct HeardAgent {
  std::string name;
  AgentRole role = AgentRole::kKdc;
  long long silent_s = 0;  // since the server started, where it has said nothing yet
};

// Empty while there is nothing to say. The agent beside kadmind is none of them: on a spare KDC it
// does not run.
std::string silent_agents(std::span<const HeardAgent> agents);

}  // namespace tkdc
