// SPDX-License-Identifier: Apache-2.0
#include "agent/notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

namespace tkdc::agent {

bool notify(std::string_view state) {
  const char* given = std::getenv("NOTIFY_SOCKET");
  const std::string_view path = given != nullptr ? given : "";
  sockaddr_un to{};
  // Other kinds of address are for virtual machines.
  if (path.size() < 2 || path.size() >= sizeof to.sun_path || (path[0] != '/' && path[0] != '@'))
    return true;
  to.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), to.sun_path);
  if (path[0] == '@') to.sun_path[0] = 0;
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  const ssize_t n = ::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&to), length);
  const bool full = n < 0 && (errno == EAGAIN || errno == ENOBUFS);
  ::close(fd);
  return !full;
}

}  // namespace tkdc::agent
