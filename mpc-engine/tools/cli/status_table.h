// SPDX-License-Identifier: Apache-2.0
// The agent's status document for people, and what it means for the exit status.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tkdc::cli {

// How many servers hold the realm's keys, as they say; 3 where none says it.
std::size_t parties_of(const nlohmann::json& document);

// A revoked time that contains `now_s`, as a server says it: what is sealed within is dead at
// birth, so nobody can log in until it ends.
struct RevokedTime {
  std::int64_t from_s, until_s;
};
std::optional<RevokedTime> revoked_now(const nlohmann::json& server, std::int64_t now_s);

// What keeps the realm from being healthy, each with the check's name in front: all servers
// are reachable and in session, their clocks agree, their audit logs can be written, the host's
// other agents say so too, and krbtgt has its key. Without control characters.
std::vector<std::string> faults_of(const nlohmann::json& document);

// There are none. Else the realm is degraded.
bool is_healthy(const nlohmann::json& document);

// Of a spare KDC, whose agent beside kadmind does not run before the host is promoted.
bool is_spare(const nlohmann::json& document);

// Strings from elsewhere are shown without control characters.
std::string status_table(const nlohmann::json& document);

}  // namespace tkdc::cli
