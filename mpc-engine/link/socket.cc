// SPDX-License-Identifier: Apache-2.0
#include "link/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <memory>

#include "base/system_error.h"

namespace tkdc {
namespace {

constexpr int kBacklog = 128;
constexpr unsigned kVanishedPeerMs = 15'000;

struct AddrinfoFree {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using AddrinfoPtr = std::unique_ptr<addrinfo, AddrinfoFree>;

Result<AddrinfoPtr> resolve(const std::string& address, int flags) {
  auto parsed = parse_address(address);
  if (!parsed.ok()) return parsed.error();
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  int rc = getaddrinfo(parsed->host.c_str(), parsed->port.c_str(), &hints, &list);
  if (rc != 0) return fail("network: cannot resolve " + address + ": " + gai_strerror(rc));
  return AddrinfoPtr(list);
}

Result<UniqueFd> open_socket(const addrinfo& where, const std::string& address) {
  UniqueFd fd(
      socket(where.ai_family, where.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, where.ai_protocol));
  if (!fd) return system_error("network: no socket for " + address);
  return fd;
}

}  // namespace

Result<HostPort> address_at(const std::string& endpoint) {
  const std::size_t scheme = endpoint.find("://");
  return parse_address(scheme == std::string::npos ? endpoint : endpoint.substr(scheme + 3));
}

Result<HostPort> parse_address(const std::string& address) {
  auto colon = address.rfind(':');
  HostPort out;
  if (colon != std::string::npos) {
    out.host = address.substr(0, colon);
    out.port = address.substr(colon + 1);
    if (out.host.size() > 2 && out.host.front() == '[' && out.host.back() == ']')
      out.host = out.host.substr(1, out.host.size() - 2);
    else if (out.host.find(':') != std::string::npos)
      out.host.clear();
  }
  unsigned port = 65536;
  auto [end, error] = std::from_chars(out.port.data(), out.port.data() + out.port.size(), port);
  if (out.host.empty() || error != std::errc() || end != out.port.data() + out.port.size() ||
      port > 65535)
    return fail("network: '" + address +
                "' is not an address; write host:port, an IPv6 host in [brackets]");
  return out;
}

Result<UniqueFd> listen_on(const std::string& address) {
  auto where = resolve(address, AI_PASSIVE);
  if (!where.ok()) return where.error();
  auto fd = open_socket(**where, address);
  if (!fd.ok()) return fd;
  int one = 1;
  setsockopt(fd->get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(fd->get(), (*where)->ai_addr, (*where)->ai_addrlen) != 0 ||
      listen(fd->get(), kBacklog) != 0)
    return system_error("network: cannot listen on " + address,
                        "is the address this host's and the port free?");
  return fd;
}

Result<int> local_port(int fd) {
  sockaddr_storage name{};
  socklen_t length = sizeof name;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&name), &length) != 0)
    return system_error("network: getsockname");
  if (name.ss_family == AF_INET6)
    return static_cast<int>(ntohs(reinterpret_cast<sockaddr_in6*>(&name)->sin6_port));
  return static_cast<int>(ntohs(reinterpret_cast<sockaddr_in*>(&name)->sin_port));
}

Result<UniqueFd> start_dial(const std::string& address) {
  auto where = resolve(address, 0);
  if (!where.ok()) return where.error();
  auto fd = open_socket(**where, address);
  if (!fd.ok()) return fd;
  tune_socket(fd->get());
  if (connect(fd->get(), (*where)->ai_addr, (*where)->ai_addrlen) != 0 && errno != EINPROGRESS)
    return system_error("network: cannot reach " + address);
  return fd;
}

std::string connect_error(int fd) {
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  return error == 0 ? "" : errno_text(error);
}

void tune_socket(int fd) {
  int one = 1;
  int idle_s = 5, interval_s = 3, probes = 3;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kVanishedPeerMs, sizeof kVanishedPeerMs);
}

void tune_bulk_socket(int fd) {
  tune_socket(fd);
  const unsigned never = 0;
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &never, sizeof never);
}

bool wait_ready(int fd, short events, long long deadline_ms) {
  for (;;) {
    long long left = deadline_ms - monotonic_ms();
    pollfd one{fd, events, 0};
    int rc = poll(&one, 1, left > 0 ? static_cast<int>(left) : 0);
    if (rc > 0) return true;
    if (rc == 0 && left <= 0) return false;
    if (rc < 0 && errno != EINTR) return false;
  }
}

}  // namespace tkdc
