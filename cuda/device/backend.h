// SPDX-License-Identifier: Apache-2.0
// The backend "cuda": AES cohorts and those of SHA-1's bulk work on a device, and on the CPU where
// a device would not pay or has failed. It speaks the representation that it is made for, so that a
// session does not see which party has a GPU.
#pragma once

#include "cuda/device/check.h"
#include "cuda/device/cohort.h"
#include "cuda/device/ripple.h"
#include "rep3/unit/aes/cohort.h"

namespace tkdc::cuda {

// From how many on a cohort goes to a device; smaller ones stay on the CPU.
struct LeastCohorts {
  std::size_t blocks = 1;        // of AES
  std::size_t compressions = 1;  // of SHA-1's shape of the fewest bits
};

class CudaRipples final : public sha1::RippleBackend {
 public:
  CudaRipples(Device& device, std::size_t least) : device_(device), least_(least) {}
  std::unique_ptr<sha1::RippleCohort> make(int party, ClaimLog* claims,
                                           std::vector<sha1::RippleBlock> blocks) const override;

 private:
  Device& device_;
  const std::size_t least_;
};

class CudaBackend final : public Rep3Backend {
 public:
  // Both must outlive the backend.
  CudaBackend(Device& device, const Rep3Backend& cpu, const LeastCohorts& least)
      : device_(device), cpu_(cpu), min_blocks_(least.blocks), ripples_(device, least.compressions),
        checks_(std::make_unique<DeviceChecks>(device, least.blocks)) {}

  std::string name() const override { return "cuda"; }
  Representation representation() const override { return cpu_.representation(); }
  std::unique_ptr<AesCohort> make_cohort(int party, std::size_t blocks) const override;
  const sha1::RippleBackend* ripples() const override { return &ripples_; }
  // A block's round is a product of the check: one limit for both.
  OctetDevice* octet_device() const override { return checks_.get(); }

  // Indices of 32 bits reach this far.
  static constexpr std::size_t kMaxBlocks = std::size_t{1} << 24;

 private:
  Device& device_;
  const Rep3Backend& cpu_;
  const std::size_t min_blocks_;
  const CudaRipples ripples_;
  std::unique_ptr<DeviceChecks> checks_;
};

}  // namespace tkdc::cuda
