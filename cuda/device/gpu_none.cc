// SPDX-License-Identifier: Apache-2.0
// What a build without nvcc says instead of opening a GPU.
#include "cuda/device/gpu.h"

namespace tkdc::cuda {
namespace {

Error not_built() { return fail("this build has no CUDA kernels"); }

}  // namespace

Result<std::unique_ptr<Driver>> open_gpu(const GpuOptions&) { return not_built(); }
Result<int> count_gpus() { return not_built(); }
Result<GpuInfo> gpu_info(int) { return not_built(); }

}  // namespace tkdc::cuda
