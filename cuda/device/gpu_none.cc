// SPDX-License-Identifier: Apache-2.0
// What a build without nvcc says instead of opening a GPU.
#include "cuda/device/gpu.h"

namespace tkdc::cuda {
Result<std::unique_ptr<Driver>> open_gpu(const GpuOptions&) {
  return fail("this build has no CUDA kernels");
}

}  // namespace tkdc::cuda
