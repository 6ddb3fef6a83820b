// SPDX-License-Identifier: Apache-2.0
#include "circuits/wire_format.h"

namespace tkdc {

std::uint64_t circuits_wire_format() { return TKDC_CIRCUITS_WIRE_FORMAT; }

}  // namespace tkdc
