// SPDX-License-Identifier: Apache-2.0
#include "service/server/clock_watch.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace tkdc {
namespace {

constexpr std::int64_t kWarnMs = kClockToleranceMs / 3;

int party_at(int party, std::size_t side) {
  return (party + (side == static_cast<std::size_t>(Neighbour::kNext) ? 1 : 2)) % 3;
}

std::string seconds_off(std::int64_t ahead_ms) {
  const char* side = ahead_ms > 0 ? " s ahead of " : " s behind ";
  return std::to_string(std::abs(ahead_ms) / 1'000) + side;
}

ClockAlarm alarm(const std::string& whose, std::int64_t ahead_ms, const std::string& of) {
  const bool error = std::abs(ahead_ms) > kClockToleranceMs;
  return {whose + " clock is " + seconds_off(ahead_ms) + of +
              (error ? "; no ticket is sealed or opened until it is set (run NTP on all three)"
                     : "; at " + std::to_string(kClockToleranceMs / 1'000) +
                           " s logins stop (run NTP on all three)"),
          error};
}

}  // namespace

// Whose clock it is follows from the two differences: both others' alike, and it is this one's.
ClockAlarm clock_alarm(int party, const ClocksAhead& ahead) {
  const std::int64_t prev = ahead[0].value_or(0), next = ahead[1].value_or(0);
  const bool alike = (prev > kWarnMs && next > kWarnMs) || (prev < -kWarnMs && next < -kWarnMs);
  if (alike && std::abs(prev - next) <= kWarnMs)
    return alarm("this server's", -prev, "both others'");
  const std::size_t worst = std::abs(prev) > std::abs(next) ? 0 : 1;
  const std::int64_t most = worst == 0 ? prev : next;
  if (std::abs(most) <= kWarnMs) return {};
  return alarm("server " + std::to_string(party_at(party, worst)) + "'s", most, "this server's");
}

void tell_clocks(nlohmann::json& json, int party, const ClocksAhead& ahead) {
  json["clocks"] = nlohmann::json::array();
  for (std::size_t side = 0; side < ahead.size(); ++side)
    if (ahead[side])
      json["clocks"].push_back({{"party", party_at(party, side)}, {"ahead_ms", *ahead[side]}});
  const ClockAlarm alarm = clock_alarm(party, ahead);
  if (!alarm.text.empty()) json[alarm.error ? "clock_error" : "clock_warning"] = alarm.text;
}

}  // namespace tkdc
