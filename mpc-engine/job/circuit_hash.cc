// SPDX-License-Identifier: Apache-2.0
#include "job/engine.h"

namespace tkdc {

std::uint64_t circuit_hash() { return TKDC_CIRCUIT_HASH; }

}  // namespace tkdc
