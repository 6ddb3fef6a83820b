// SPDX-License-Identifier: Apache-2.0
// Which devices a program uses: the bridge between data.backend and the GPUs.
//
// A program makes one Devices at start and hands it to set_device_backends(). Nothing is opened
// before a backend is asked for, and then once: what came of it stays until the program ends,
// but for devices that fail later: when none is left, that ends the answer "there is one" for new
// sessions.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "cuda/device/backend.h"
#include "cuda/device/gpu.h"
#include "rep3/unit/aes/device_backends.h"

namespace tkdc::cuda {

struct DevicesOptions {
  std::vector<int> ordinals = {0};  // lanes take them in turn
  bool allow_shared = false;
  LeastCohorts least;
  std::function<void(const std::string&)> report;  // what an operator should know; any thread
};

class Devices final : public DeviceBackends {
 public:
  using Open = std::function<Result<std::unique_ptr<Driver>>(const GpuOptions&)>;
  explicit Devices(DevicesOptions options, Open open = open_gpu);
  ~Devices() override;

  Result<const Rep3Backend*> backend(Representation representation) override;

 private:
  class LaneBackend;

  Result<void> open_all();

  const DevicesOptions options_;
  const Open open_;
  std::mutex mutex_;
  std::optional<Result<void>> opened_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::unique_ptr<LaneBackend> backends_[2];  // by representation
};

}  // namespace tkdc::cuda
