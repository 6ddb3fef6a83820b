// SPDX-License-Identifier: Apache-2.0
// TCP sockets of the data plane: addresses "host:port" (an IPv6 host in
// brackets), listening and dialling without blocking.
#pragma once

#include <string>

#include "base/machine.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace tkdc {

struct HostPort {
  std::string host;
  std::string port;
};

Result<HostPort> parse_address(const std::string& address);
// The same of an endpoint, with a scheme ("tcp://") before it or without.
Result<HostPort> address_at(const std::string& endpoint);

// Port 0 lets the kernel choose; local_port() tells.
Result<UniqueFd> listen_on(const std::string& address);
Result<int> local_port(int fd);

// Starts a connection; writable when it is decided, connect_error() tells how.
// Resolving a name may block: the examples use addresses.
Result<UniqueFd> start_dial(const std::string& address);
// Empty when connected.
std::string connect_error(int fd);

// TCP_NODELAY (a round is one small packet), cubic where the kernel has it (a
// bbr default is several times slower within one site), and an end for
// connections whose peer's host has vanished. Best effort, each on its own.
void tune_socket(int fd);
// The same for a connection whose peer may leave octets unread for long: TCP ends it for that no
// more.
void tune_bulk_socket(int fd);

// poll() on one descriptor until then; false when the time is over.
bool wait_ready(int fd, short events, long long deadline_ms);

}  // namespace tkdc
