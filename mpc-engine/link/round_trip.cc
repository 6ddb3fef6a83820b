// SPDX-License-Identifier: Apache-2.0
// Of two headers that define tcp_info, glibc's has no tcpi_min_rtt. So this file is compiled alone.
#include "link/round_trip.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>

namespace tkdc {

std::optional<std::chrono::microseconds> fastest_round_trip(int fd) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return std::nullopt;
  constexpr socklen_t kEnd = offsetof(tcp_info, tcpi_min_rtt) + sizeof info.tcpi_min_rtt;
  // All bits are set where nothing has been measured yet.
  if (length < kEnd || info.tcpi_min_rtt == ~__u32{0}) return std::nullopt;
  return std::chrono::microseconds(info.tcpi_min_rtt);
}

}  // namespace tkdc
