// SPDX-License-Identifier: Apache-2.0
// How many keys a store has shares of, for those who must not open it: no store key, no lock that a
// running server would notice, nothing written but LMDB's own table of readers.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace tkdc {

// Keys that are committed or prepared, without dropped ones, which no operation has. Error: there
// is no store in `folder`, or LMDB's reason.
Result<std::size_t> count_keys(const std::string& folder);

}  // namespace tkdc
