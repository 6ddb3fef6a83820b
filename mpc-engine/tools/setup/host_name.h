// SPDX-License-Identifier: Apache-2.0
// A host as an administrator names it, in the one form in which two can be compared.
//
// Used by `tkdc init` and `tkdc join`. Nothing here is secret, and no name is resolved.
#pragma once

#include <string>

#include "base/result.h"

namespace tkdc::setup {

// A name in small letters, an IPv4 address, or an IPv6 address in its shortest form, without the
// brackets in which it may be given. Error: what is wrong with it, without naming where it stood.
Result<std::string> canonical_host(const std::string& text);

// Of canonical hosts.
bool is_address(const std::string& host);
bool is_this_machine(const std::string& host);  // 127.0.0.0/8, ::1, localhost
std::string host_port(const std::string& host, int port);
// An address stands for itself on its machine too; a name may resolve differently there, so the
// server listens on all interfaces.
std::string listen_host(const std::string& host);

}  // namespace tkdc::setup
