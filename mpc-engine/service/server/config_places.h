// SPDX-License-Identifier: Apache-2.0
// What a configuration names outside of its file, for tkdc-server --check-config: folders, and
// hosts. Each error has the file, the line, the key and what to do.
#pragma once

#include <functional>
#include <string>

#include "service/server/config.h"

namespace tkdc {

// Whether the store, the audit log and the socket for monitoring can be made where they are to lie.
// What it returns is a remark on a folder that systemd makes at the first start, or empty.
Result<std::string> check_folders(const ServerConfig& config);

enum class Lookup { kFound, kUnknown, kNotNow };
using LookUp = std::function<Lookup(const std::string& host)>;

// By getaddrinfo(): hosts files, then the DNS, which is waited for some seconds.
Lookup look_up(const std::string& host);

// Whether each host has an address. A listener's that has none is an error. A peer's is a remark:
// its administrator may give it its name later than its introduction. So is a name server that does
// not answer: at boot it may be down while the file is right, and a server that runs asks for the
// name again each time that it calls.
Result<std::string> check_hosts(const ServerConfig& config, const LookUp& look = look_up);

}  // namespace tkdc
