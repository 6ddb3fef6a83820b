// SPDX-License-Identifier: Apache-2.0
// The device interface without a device: the kernel bodies in loops over threads. Tests run on it;
// it is no backend of its own, the CPU's are faster. A server needs run_on_host() alone, for what a
// device that has failed leaves unfinished.
//
// It is stricter than a GPU. Nothing runs before finish(), so who reads a result too early, or
// changes what is still to be copied, gets a wrong one every time; a step that is submitted again
// under its name is recorded again and must be the same; and it can be told to fail.
#pragma once

#include <atomic>
#include <optional>

#include "cuda/device/driver.h"

namespace tkdc::cuda {

class HostDriver final : public Driver {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  // The operation (allocation, submission, finish) of this number fails, and all after it; so does
  // what would take more memory than `octets`.
  explicit HostDriver(std::uint64_t fail_at = kNever, std::uint64_t octets = kNever)
      : fail_at_(fail_at), octets_(octets) {}

  std::string name() const override { return "host"; }
  Result<void*> allocate(std::size_t octets) override;
  void release(void* memory, std::size_t octets) noexcept override;
  Result<void*> allocate_pinned(std::size_t octets) override { return allocate(octets); }
  void release_pinned(void* memory, std::size_t octets) noexcept override {
    release(memory, octets);
  }
  Result<std::unique_ptr<Queue>> make_queue() override;
  Result<void> state() override;

  // For tests: how much is allocated, how often it was asked, and whether memory was wiped.
  std::uint64_t octets_held() const { return held_; }
  std::uint64_t operations() const { return operations_; }
  std::optional<std::string> misuse() const { return misuse_; }

 private:
  friend class HostQueue;
  bool fails() { return operations_++ >= fail_at_; }

  const std::uint64_t fail_at_, octets_;
  std::atomic<std::uint64_t> operations_ = 0, held_ = 0;
  std::optional<std::string> misuse_;
};

// Runs one kernel at once, on memory of the host.
void run_on_host(Kernel kernel, const View& view, const Tick& tick);

}  // namespace tkdc::cuda
