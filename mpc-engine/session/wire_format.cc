// SPDX-License-Identifier: Apache-2.0
#include "session/wire_format.h"

namespace tkdc {

std::uint64_t wire_format_digest() { return TKDC_WIRE_FORMAT; }

}  // namespace tkdc
