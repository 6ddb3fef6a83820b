// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rep3/unit/aes/cohort.h"
#include "rep3/unit/aes/kernels.h"

namespace tkdc {

const Rep3Backend& rep3_backend_scalar();
const Rep3Backend* rep3_backend_gfni();  // null when the CPU lacks it

}  // namespace tkdc
