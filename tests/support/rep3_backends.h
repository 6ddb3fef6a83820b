// SPDX-License-Identifier: Apache-2.0
// What tests of protocols run over: every backend of this CPU, and in both representations one on a
// device, which takes every cohort and every batch of the check however small. The device is the
// host's loops over the kernels' bodies, or with TKDC_TEST_GPU=1 in the environment GPU 0.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "cuda/device/backend.h"
#include "cuda/device/gpu.h"
#include "cuda/device/host_driver.h"
#include "rep3/unit/aes/byte_cohort.h"
#include "rep3/unit/aes/plane_cohort.h"

namespace tkdc::test {

class DeviceUnderTest {
 public:
  const Rep3Backend& octets() const { return octets_; }
  const Rep3Backend& planes() const { return planes_; }

 private:
  static std::unique_ptr<cuda::Driver> driver() {
    if (std::getenv("TKDC_TEST_GPU") == nullptr) return std::make_unique<cuda::HostDriver>();
    auto gpu = cuda::open_gpu({0, true});
    if (!gpu) throw std::runtime_error(gpu.error().message);
    return std::move(*gpu);
  }
  // The CPU would give the same results: nothing may go there unseen.
  static void failed(const std::string& what) { throw std::runtime_error("the device " + what); }

  cuda::Device device_{driver(), failed};
  cuda::CudaBackend octets_{device_, rep3_backend_scalar(), {1, 1}};
  cuda::CudaBackend planes_{device_, rep3_backend_planes(), {1, 1}};
};

inline std::vector<const Rep3Backend*> rep3_backends() {
  static const DeviceUnderTest device;
  std::vector<const Rep3Backend*> all = usable_rep3_backends();
  all.push_back(&device.octets());
  all.push_back(&device.planes());
  return all;
}

}  // namespace tkdc::test
