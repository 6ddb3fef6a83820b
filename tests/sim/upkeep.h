// SPDX-License-Identifier: Apache-2.0
// What servers' administrators have done with all shares (`tkdc shares`, `tkdc refresh`): MACs are
// audited and dealt, shares refreshed. And what must be true of shares, whatever breaks meanwhile.
#pragma once

#include <string>

#include "sim/hosts.h"

namespace tkdc::sim {

void start_upkeep();
// Of that server's administrator. False: it was not taken.
bool ask_shares(ServerHost& which, const std::string& task);

// Each second: nobody serves on beside a server of another refresh.
void look_at_refresh(std::uint64_t sealed);
// When nothing is wrong any more: an audit of all shares comes to its end, and finds nothing.
void finish_shares();
// When all have stopped: all three or none were refreshed, and the shares fit each other.
void judge_shares();

}  // namespace tkdc::sim
