// SPDX-License-Identifier: Apache-2.0
// The digest of lut/wire-format-jobs.txt: what two servers send of lookup tables, from what is made
// ahead to the bits that a circuit takes (session/wire_format.h). The bench's modes are in
// wire-format.txt, which no server compares.
#pragma once

#include <cstdint>

namespace tkdc {

std::uint64_t lut_jobs_wire_format();

}  // namespace tkdc
