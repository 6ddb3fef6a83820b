// SPDX-License-Identifier: Apache-2.0
// What the fuzzers share: a property that does not hold ends the process, so
// that libFuzzer keeps the input.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "base/secret.h"

namespace tkdc::fuzz {

inline void require(bool holds) {
  if (!holds) std::abort();
}

inline bool equal(ByteSpan a, ByteSpan b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace tkdc::fuzz
