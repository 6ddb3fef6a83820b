// SPDX-License-Identifier: Apache-2.0
// Limits that the three servers must share; the handshake compares them.
#pragma once

#include <cstdint>

namespace tkdc {

// The jobs that one manifest names: a longer one ends the session.
inline constexpr std::uint32_t kMaxCohortJobs = 256;

}  // namespace tkdc
