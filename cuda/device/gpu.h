// SPDX-License-Identifier: Apache-2.0
// NVIDIA GPUs as devices, and why one may not be used.
//
// In a build without TKDC_CUDA there is none: open_gpu() says so.
#pragma once

#include "cuda/device/driver.h"

namespace tkdc::cuda {

struct GpuOptions {
  int ordinal = 0;
  // Without it a GPU must be in exclusive-process mode, so that no other program's kernels run
  // beside ours, and none can be given memory that was ours.
  bool allow_shared = false;
};

// Error: what is missing (build, driver, GPU, exclusiveness), and what to do about it.
Result<std::unique_ptr<Driver>> open_gpu(const GpuOptions& options);

}  // namespace tkdc::cuda
