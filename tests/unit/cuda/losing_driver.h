// SPDX-License-Identifier: Apache-2.0
// A GPU that is lost in the middle of its work: before the n-th step of any queue a kernel writes
// to address 0, which ends the process's context on that GPU. For a process that does nothing
// else, with a real GPU: the host's loops would end the process.
#pragma once

#include <atomic>

#include "cuda/device/driver.h"

namespace tkdc::cuda {

class LosingDriver final : public Driver {
 public:
  LosingDriver(std::unique_ptr<Driver> gpu, std::uint64_t lost_at)
      : gpu_(std::move(gpu)), left_(lost_at) {}
  std::string name() const override { return gpu_->name(); }
  Result<void*> allocate(std::size_t octets) override { return gpu_->allocate(octets); }
  void release(void* memory, std::size_t octets) noexcept override {
    gpu_->release(memory, octets);
  }
  Result<void*> allocate_pinned(std::size_t octets) override {
    return gpu_->allocate_pinned(octets);
  }
  void release_pinned(void* memory, std::size_t octets) noexcept override {
    gpu_->release_pinned(memory, octets);
  }
  Result<void> state() override { return gpu_->state(); }
  Result<std::unique_ptr<Queue>> make_queue() override {
    auto queue = gpu_->make_queue();
    if (!queue) return queue.error();
    return std::unique_ptr<Queue>(std::make_unique<LosingQueue>(std::move(*queue), left_));
  }

 private:
  struct WriteToNull final : Step {
    void record(Recorder& to) const override {
      View view{};
      view.blocks = 1024;
      to.launch(Kernel::kOctetAddRoundKey, view, nullptr);
    }
  };
  struct LosingQueue final : Queue {
    LosingQueue(std::unique_ptr<Queue> queue, std::atomic<std::uint64_t>& left)
        : gpu(std::move(queue)), steps_left(left) {}
    void submit(const std::string& name, const Step& step) override {
      if (steps_left-- == 0) gpu->submit("", WriteToNull());
      gpu->submit(name, step);
    }
    Result<void> finish() override { return gpu->finish(); }
    std::unique_ptr<Queue> gpu;
    std::atomic<std::uint64_t>& steps_left;
  };

  std::unique_ptr<Driver> gpu_;
  std::atomic<std::uint64_t> left_;
};

}  // namespace tkdc::cuda
