// SPDX-License-Identifier: Apache-2.0
#include "service/pair/wire_format.h"

namespace tkdc {

std::uint64_t pair_jobs_wire_format() { return TKDC_PAIR_JOBS_WIRE_FORMAT; }

}  // namespace tkdc
