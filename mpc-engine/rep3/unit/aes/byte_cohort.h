// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rep3/unit/aes/cohort.h"
#include "rep3/unit/aes/kernels.h"

namespace tkdc {

const AesBackend& aes_backend_scalar();
const AesBackend* aes_backend_gfni();  // null when the CPU lacks it

}  // namespace tkdc
