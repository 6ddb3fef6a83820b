// SPDX-License-Identifier: Apache-2.0
// The memory that the check of one batch needs on a device and beside it, with its queue; and a
// pool of such, as slot.h has for cohorts. It holds shares: wiped between two batches and before it
// is freed. Memory is used by one batch at a time, the pool by all lanes.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "cuda/device/memory.h"

namespace tkdc::cuda {

class CheckMemory {
 public:
  static Result<std::unique_ptr<CheckMemory>> make(Driver& driver, std::size_t device_octets,
                                                   std::size_t pinned_octets);
  ~CheckMemory();

  // All of it becomes zeros; after it another batch may have it.
  Result<void> wipe();

  Queue& queue() { return *queue_; }
  const Arena& device() const { return device_; }
  const Arena& pinned() const { return pinned_; }

 private:
  explicit CheckMemory(Driver& driver)
      : device_(driver, Arena::Where::kDevice), pinned_(driver, Arena::Where::kPinned) {}
  class Wipe;

  Arena device_, pinned_;
  std::unique_ptr<Queue> queue_;
};

class CheckPool {
 public:
  explicit CheckPool(Driver& driver) : driver_(driver) {}

  // At least as many octets of each.
  Result<std::unique_ptr<CheckMemory>> acquire(std::size_t device_octets,
                                               std::size_t pinned_octets);
  // Wipes it, and frees it when that fails or enough stands here.
  void give_back(std::unique_ptr<CheckMemory> memory);

 private:
  static constexpr std::size_t kMaxIdle = 8;  // of one size
  using Size = std::pair<std::size_t, std::size_t>;

  Driver& driver_;
  std::mutex mutex_;
  std::map<Size, std::vector<std::unique_ptr<CheckMemory>>> idle_;
};

}  // namespace tkdc::cuda
