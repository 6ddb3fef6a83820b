// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/backend.h"

namespace tkdc::cuda {

std::unique_ptr<AesCohort> CudaBackend::make_cohort(int party, std::size_t blocks) const {
  if (blocks < min_blocks_ || blocks > kMaxBlocks || device_.health.lost())
    return cpu_.make_cohort(party, blocks);
  return std::make_unique<DeviceCohort>(device_, cpu_, party, blocks);
}

}  // namespace tkdc::cuda
