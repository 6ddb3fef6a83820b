// SPDX-License-Identifier: Apache-2.0
#include "threegarble/wire_format.h"

namespace tkdc {

std::uint64_t threegarble_wire_format() { return TKDC_THREEGARBLE_WIRE_FORMAT; }

}  // namespace tkdc
