// SPDX-License-Identifier: Apache-2.0
#include "service/server/clock_watch.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace tkdc {
namespace {

constexpr std::int64_t kWarnMs = kClockToleranceMs / 3;

// Of two the other one is the next.
int party_at(WhichParty party, std::size_t side) {
  const bool next = side == static_cast<std::size_t>(Neighbour::kNext);
  return (party.number + (next ? 1 : party.of - 1)) % party.of;
}

std::string seconds_off(std::int64_t ahead_ms) {
  const char* side = ahead_ms > 0 ? " s ahead of " : " s behind ";
  return std::to_string(std::abs(ahead_ms) / 1'000) + side;
}

// Two servers seal no ticket by a time that both must believe.
std::string what_follows(bool error, int servers) {
  if (servers == 2) return "; jobs' deadlines may seem over (run NTP on both)";
  if (error) return "; no ticket is sealed or opened until it is set (run NTP on all three)";
  return "; at " + std::to_string(kClockToleranceMs / 1'000) +
         " s logins stop (run NTP on all three)";
}

ClockAlarm alarm(const std::string& whose, std::int64_t ahead_ms, const std::string& of,
                 int servers) {
  const bool error = servers == 3 && std::abs(ahead_ms) > kClockToleranceMs;
  return {whose + " clock is " + seconds_off(ahead_ms) + of + what_follows(error, servers), error};
}

}  // namespace

// Whose clock it is follows from the two differences: both others' alike, and it is this one's.
ClockAlarm clock_alarm(WhichParty party, const ClocksAhead& ahead) {
  const std::int64_t prev = ahead[0].value_or(0), next = ahead[1].value_or(0);
  const bool alike = (prev > kWarnMs && next > kWarnMs) || (prev < -kWarnMs && next < -kWarnMs);
  if (alike && std::abs(prev - next) <= kWarnMs)
    return alarm("this server's", -prev, "both others'", party.of);
  const std::size_t worst = std::abs(prev) > std::abs(next) ? 0 : 1;
  const std::int64_t most = worst == 0 ? prev : next;
  if (std::abs(most) <= kWarnMs) return {};
  return alarm("server " + std::to_string(party_at(party, worst)) + "'s", most, "this server's",
               party.of);
}

void tell_clocks(nlohmann::json& json, WhichParty party, const ClocksAhead& ahead) {
  json["clocks"] = nlohmann::json::array();
  for (std::size_t side = 0; side < ahead.size(); ++side)
    if (ahead[side])
      json["clocks"].push_back({{"party", party_at(party, side)}, {"ahead_ms", *ahead[side]}});
  const ClockAlarm alarm = clock_alarm(party, ahead);
  if (!alarm.text.empty()) json[alarm.error ? "clock_error" : "clock_warning"] = alarm.text;
}

}  // namespace tkdc
