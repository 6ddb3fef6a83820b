// SPDX-License-Identifier: Apache-2.0
// How fast a device makes zero-shares, for tkdc bench: the kernel that adds them to a message,
// again and again, once it has been found to make what this CPU's generator makes. The keys are
// random and thrown away.
#pragma once

#include "cuda/device/driver.h"
#include "session/zero_generator.h"

namespace tkdc::cuda {

struct ZeroRateOptions {
  std::size_t octets = std::size_t{64} << 20;  // of the message: a multiple of 1024
  double seconds = 0.5;
};

// Octets of zero-shares (both components' streams, added up) in a second. Error: of the device, or
// that the octets are not the generator's.
Result<double> measure_zero_shares(Driver& driver, ZeroGenerator generator,
                                   const ZeroRateOptions& options = {});

}  // namespace tkdc::cuda
