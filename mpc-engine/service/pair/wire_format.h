// SPDX-License-Identifier: Apache-2.0
// The digest of service/pair/wire-format.txt: what two servers send each other, from a session's
// beginning to its jobs' ends, and the circuits that they make of the catalogue's
// (session/wire_format.h).
#pragma once

#include <cstdint>

namespace tkdc {

std::uint64_t pair_jobs_wire_format();

}  // namespace tkdc
