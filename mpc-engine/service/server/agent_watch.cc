// SPDX-License-Identifier: Apache-2.0
#include "service/server/agent_watch.h"

#include <algorithm>
#include <limits>

namespace tkdc {

std::string silent_agents(std::span<const HeardAgent> agents) {
  constexpr std::size_t kMostNamed = 4;
  std::string names;
  std::size_t silent = 0;
  long long least_s = std::numeric_limits<long long>::max();
  for (const HeardAgent& agent : agents) {
    if (agent.role != AgentRole::kKdc || agent.silent_s <= kSilentAfterS) continue;
    if (++silent <= kMostNamed) names += (names.empty() ? "" : ", ") + agent.name;
    least_s = std::min(least_s, agent.silent_s);
  }
  if (silent == 0) return {};
  if (silent > kMostNamed) names += " and " + std::to_string(silent - kMostNamed) + " others";
  return "no word from " + names + " for " + std::to_string(least_s / 60) +
         " min: a KDC whose agent is away issues no ticket. An agent that is no more goes out of "
         "[[agents]] in tkdc.toml";
}

}  // namespace tkdc
