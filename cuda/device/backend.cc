// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/backend.h"

namespace tkdc::cuda {

std::unique_ptr<AesCohort> CudaBackend::make_cohort(int party, std::size_t blocks) const {
  if (blocks < min_blocks_ || blocks > kMaxBlocks || device_.health.lost())
    return cpu_.make_cohort(party, blocks);
  return std::make_unique<DeviceCohort>(device_, cpu_, party, blocks);
}

std::unique_ptr<sha1::RippleCohort> CudaRipples::make(int party, ClaimLog* claims,
                                                      std::vector<sha1::RippleBlock> blocks) const {
  if (blocks.size() < least_ || blocks.size() > DeviceRipple::kMaxColumns || device_.health.lost())
    return std::make_unique<sha1::Ripple>(party, claims, std::move(blocks));
  return std::make_unique<DeviceRipple>(device_, party, claims, std::move(blocks));
}

}  // namespace tkdc::cuda
