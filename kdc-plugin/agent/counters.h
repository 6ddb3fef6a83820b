// SPDX-License-Identifier: Apache-2.0
// What an agent counts for `tkdc status`.
#pragma once

#include <array>
#include <cstdint>

#include "service/wire/operation_times.h"

namespace tkdc::agent {

struct Counters {
  std::array<std::uint64_t, TKDC_STATUS_INTERNAL + 1> finished{};  // by status
  OperationTimes times;                                            // from request to answer
  std::uint64_t late_replies = 0;                                  // nobody waits for them any more
  std::uint64_t malformed_replies = 0;                             // from servers
  std::uint64_t malformed_requests = 0;                            // clients disconnected for them
  std::uint64_t slow_clients = 0;  // clients disconnected for not reading
  std::uint64_t clients_accepted = 0;
  std::size_t clients = 0;  // now
};

}  // namespace tkdc::agent
