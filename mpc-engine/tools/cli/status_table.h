// SPDX-License-Identifier: Apache-2.0
// The agent's status document for people, and what it means for the exit status.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tkdc::cli {

// Healthy: all three servers reachable and in session. Degraded: the agent
// answers, but not all of that holds.
bool is_healthy(const nlohmann::json& document);

// Of a spare KDC, whose agent beside kadmind does not run before the host is promoted.
bool is_spare(const nlohmann::json& document);

// Strings from elsewhere are shown without control characters.
std::string status_table(const nlohmann::json& document);

}  // namespace tkdc::cli
