// SPDX-License-Identifier: Apache-2.0
// TCP sockets of the data plane: an owning descriptor, addresses "host:port"
// (an IPv6 host in brackets), listening and dialling without blocking.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace tkdc {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd();

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

struct HostPort {
  std::string host;
  std::string port;
};

Result<HostPort> parse_address(const std::string& address);

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

// Milliseconds on the monotonic clock, for deadlines.
long long monotonic_ms();

// poll() on one descriptor until then; false when the time is over.
bool wait_ready(int fd, short events, long long deadline_ms);

}  // namespace tkdc
