// SPDX-License-Identifier: Apache-2.0
// What a configuration names outside of its file, for tkdc-server --check-config: folders, hosts
// and memory. Each error has the file, the line, the key and what to do.
#pragma once

#include <string>

#include "base/host_names.h"
#include "service/server/config.h"

namespace tkdc {

// Whether the store, the audit log and the socket for monitoring can be made where they are to lie.
// What it returns is a remark on a folder that systemd makes at the first start, or empty.
Result<std::string> check_folders(const ServerConfig& config);

// Whether what two servers may have ready fits into so much memory, beside a quarter for all else.
Result<void> check_memory(const ServerConfig& config, std::uint64_t memory_bytes);
std::uint64_t memory_of_this_host();

// Whether each host has an address: peers', and those to listen on (base/host_names.h).
Result<std::string> check_hosts(const ServerConfig& config, const LookUp& look = look_up);

}  // namespace tkdc
