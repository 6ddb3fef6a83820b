// SPDX-License-Identifier: Apache-2.0
// A device that the host's loops are, for tests.
#pragma once

#include "cuda/device/host_driver.h"
#include "unit/cuda/cohort_runs.h"

namespace tkdc::cuda {

struct HostDevice : TestDevice {
  explicit HostDevice(Representation representation, std::size_t min_blocks = 1,
                      std::uint64_t fail_at = HostDriver::kNever)
      : HostDevice(new HostDriver(fail_at), representation, min_blocks) {}
  HostDevice(HostDriver* its, Representation representation, std::size_t min_blocks)
      : TestDevice(std::unique_ptr<Driver>(its), representation, min_blocks), driver(its) {}
  HostDriver* driver;
};

}  // namespace tkdc::cuda
