// SPDX-License-Identifier: Apache-2.0
// What a server tells its administrator of the three clocks (service/job/clock_notice.h): beyond
// the tolerance no ticket is sealed or opened, from a third of it on somebody should look.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "service/job/clock_notice.h"

namespace tkdc {

struct ClockAlarm {
  std::string text;    // names the server whose clock it is; empty while there is nothing to say
  bool error = false;  // beyond the tolerance
};
ClockAlarm clock_alarm(int party, const ClocksAhead& ahead);

// For `tkdc status`.
void tell_clocks(nlohmann::json& json, int party, const ClocksAhead& ahead);

}  // namespace tkdc
