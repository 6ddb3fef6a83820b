// SPDX-License-Identifier: Apache-2.0
#include "pair/wire_format.h"

namespace tkdc {

std::uint64_t pair_wire_format() { return TKDC_PAIR_WIRE_FORMAT; }

}  // namespace tkdc
