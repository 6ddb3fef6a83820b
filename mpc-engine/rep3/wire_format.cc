// SPDX-License-Identifier: Apache-2.0
#include "rep3/wire_format.h"

namespace tkdc {

std::uint64_t rep3_wire_format() { return TKDC_REP3_WIRE_FORMAT; }

}  // namespace tkdc
