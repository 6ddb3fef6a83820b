// SPDX-License-Identifier: Apache-2.0
// The check of a batch's claims of octets and bits on a device (rep3/verify/octet_device.h): rows
// are copied to it once, sums come back, and the vectors when few elements are left of them.
//
// A failure is told to DeviceHealth; the lane's CPU takes over, and no further batch starts on the
// device. Secret: everything in device and pinned memory but tasks, maps and weights; all of it is
// wiped before it is used again or freed. A batch is used by one lane's thread.
#pragma once

#include "cuda/device/device.h"
#include "rep3/verify/octet_device.h"

namespace tkdc::cuda {

class DeviceChecks final : public OctetDevice {
 public:
  // Batches of fewer products stay on the CPU. The device must outlive this.
  DeviceChecks(Device& device, std::size_t min_products)
      : device_(device), min_products_(min_products) {}

  std::unique_ptr<OctetBatch> begin(const std::vector<ClaimRows*>& records,
                                    std::size_t products) override;

  static constexpr std::size_t kMaxProducts = std::size_t{1}
                                              << 26;  // indices of 32 bits reach this far

 private:
  Device& device_;
  const std::size_t min_products_;
};

}  // namespace tkdc::cuda
