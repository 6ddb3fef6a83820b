// SPDX-License-Identifier: Apache-2.0
// How far away the other end of a TCP connection is.
#pragma once

#include <chrono>
#include <optional>

namespace tkdc {

// The fastest round trip of the last minutes, as the kernel measured it: neither end's load makes
// it longer. Nothing: `fd` is no TCP connection, or the kernel does not say.
std::optional<std::chrono::microseconds> fastest_round_trip(int fd);

}  // namespace tkdc
