// SPDX-License-Identifier: Apache-2.0
// What a server tells its administrator of the servers' clocks (service/job/clock_notice.h): beyond
// the tolerance no ticket is sealed or opened, from a third of it on somebody should look.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "service/job/clock_notice.h"

namespace tkdc {

struct WhichParty {
  WhichParty(int party, int parties = 3) : number(party), of(parties) {}
  int number, of;
};

struct ClockAlarm {
  std::string text;    // names the server whose clock it is; empty while there is nothing to say
  bool error = false;  // beyond the tolerance
};
ClockAlarm clock_alarm(WhichParty party, const ClocksAhead& ahead);

// For `tkdc status`.
void tell_clocks(nlohmann::json& json, WhichParty party, const ClocksAhead& ahead);

}  // namespace tkdc
