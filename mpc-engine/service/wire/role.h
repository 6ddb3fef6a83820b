// SPDX-License-Identifier: Apache-2.0
// What an agent is for: a server knows it by the agent's CURVE key (docs/adr/0003-two-agents.md).
#pragma once

#include <cstdint>

namespace tkdc
{

enum class AgentRole : std::uint8_t { kKdc = 1, kAdmin = 2 };

} // namespace tkdc
