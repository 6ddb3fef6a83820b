// SPDX-License-Identifier: Apache-2.0
// Hosts that a configuration names; and whether they have addresses, for --check-config of the
// daemons.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace tkdc {

// Of host:port, tcp://host:port and [address]:port. What a listener names may be a network
// interface.
std::string host_of(std::string endpoint);

enum class Lookup { kFound, kUnknown, kNotNow };
using LookUp = std::function<Lookup(const std::string& host)>;

// By getaddrinfo(): hosts files, then the DNS, which is waited for some seconds.
Lookup look_up(const std::string& host);

struct NamedHost {
  std::string key, host;  // where the configuration names it
  bool own = false;       // to listen on
};

// One of its own that has no address is an error. Another's is a remark: its administrator may give
// it its name later than its introduction. So is a name server that does not answer: at boot it may
// be down while the file is right, and a daemon that runs asks for the name again each time that it
// calls. `wrong` names file, line and key. `till_then`: what there is none of before one answers.
Result<std::string> check_names(
    const std::vector<NamedHost>& hosts,
    const std::function<Error(const std::string& key, const std::string& why)>& wrong,
    const std::string& till_then, const LookUp& look);

}  // namespace tkdc
