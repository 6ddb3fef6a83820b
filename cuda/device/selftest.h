// SPDX-License-Identifier: Apache-2.0
// Before a device is trusted with a session: small cohorts on it beside the CPU's, every kernel
// that sessions use, octet for octet. Costs some milliseconds and 4,330 rounds of SHA-1, once when
// the device is opened.
#pragma once

#include "cuda/device/device.h"

namespace tkdc::cuda {

// Error: which computation differed, or how the device failed.
Result<void> self_test(Device& device);
// Part of it: the check of malicious mode.
Result<void> check_self_test(Device& device);

}  // namespace tkdc::cuda
