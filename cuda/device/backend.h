// SPDX-License-Identifier: Apache-2.0
// The AES backend "cuda": cohorts on a device, and on the CPU where a device would not pay or has
// failed. It speaks the representation that it is made for, so that a session does not see which
// party has a GPU.
#pragma once

#include "cipher/aes/cohort.h"
#include "cuda/device/check.h"
#include "cuda/device/cohort.h"

namespace tkdc::cuda {

class CudaBackend final : public AesBackend {
 public:
  // Cohorts of fewer blocks than `min_blocks` stay on the CPU. Both must outlive the backend.
  CudaBackend(Device& device, const AesBackend& cpu, std::size_t min_blocks)
      : device_(device), cpu_(cpu), min_blocks_(min_blocks),
        checks_(std::make_unique<DeviceChecks>(device, min_blocks)) {}

  std::string name() const override { return "cuda"; }
  Representation representation() const override { return cpu_.representation(); }
  std::unique_ptr<AesCohort> make_cohort(int party, std::size_t blocks) const override;
  // A block's round is a product of the check: one limit for both.
  OctetDevice* octet_device() const override { return checks_.get(); }

  // Indices of 32 bits reach this far.
  static constexpr std::size_t kMaxBlocks = std::size_t{1} << 24;

 private:
  Device& device_;
  const AesBackend& cpu_;
  const std::size_t min_blocks_;
  std::unique_ptr<DeviceChecks> checks_;
};

}  // namespace tkdc::cuda
