// SPDX-License-Identifier: Apache-2.0
// An agent that asks more at once than servers take of it: they refuse what is beyond, and nobody
// waits longer for it than the flood lasts.
#pragma once

#include "sim/agents.h"

namespace tkdc::sim {

// Of a server's jobs of one agent, in a run; few, so that floods are short.
inline constexpr std::size_t kMostWaiting = 64;

void flood(Agent& by, std::int64_t jobs);
// Each second: no server holds more of an agent's jobs.
void look_at_waiting();

}  // namespace tkdc::sim
