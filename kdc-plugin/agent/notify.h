// SPDX-License-Identifier: Apache-2.0
// What the agent tells systemd (sd_notify(3)), without ever waiting for it:
// libsystemd's sd_notify() blocks while the service manager's queue is full,
// and the agent's one loop serves every login. A lost message is no harm:
// WATCHDOG=1 and STATUS= come again, and READY=1 is sent until it is taken.
#pragma once

#include <string_view>

namespace tkdc::agent {

// False when it was not taken now. True without a service manager.
bool notify(std::string_view state);

}  // namespace tkdc::agent
