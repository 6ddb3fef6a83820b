// SPDX-License-Identifier: Apache-2.0
#include "lut/wire_format.h"

namespace tkdc {

std::uint64_t lut_jobs_wire_format() { return TKDC_LUT_JOBS_WIRE_FORMAT; }

}  // namespace tkdc
