// SPDX-License-Identifier: Apache-2.0
// How fast a device's link to the host is, for tkdc bench: big copies between pinned and device
// memory, in each direction alone and in both at once, by two queues. Nothing secret.
#pragma once

#include "cuda/device/driver.h"

namespace tkdc::cuda {

struct BandwidthOptions {
  std::size_t octets = std::size_t{256} << 20;  // of a copy
  double seconds = 0.25;                        // of each of the three measurements
};

// Octets in a second.
struct Bandwidth {
  double to_device = 0, from_device = 0;
  double both_each_way = 0;  // in one direction while as much goes in the other
};

// Error: of the device.
Result<Bandwidth> measure_bandwidth(Driver& driver, const BandwidthOptions& options = {});

}  // namespace tkdc::cuda
