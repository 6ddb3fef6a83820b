// SPDX-License-Identifier: Apache-2.0
// What of a configuration that was read again differs from the one in force: for `systemctl
// reload`, which takes some of it over and says of the rest that it wants a restart. Pure; nothing
// is secret.
#pragma once

#include <string>
#include <vector>

#include "service/server/config.h"

namespace tkdc {

// Tables of tkdc.toml of which something has changed, "[limits]" say, but for what a reload takes
// over: how the audit log is kept.
std::vector<std::string> changes_for_restart(const ServerConfig& in_force,
                                             const ServerConfig& read);

}  // namespace tkdc
