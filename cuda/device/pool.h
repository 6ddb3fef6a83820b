// SPDX-License-Identifier: Apache-2.0
// The memory that one cohort needs on a device and beside it, with its queue; and a pool of such
// slots. Allocating device and pinned memory, and capturing graphs, costs more than a cohort's
// rounds: slots are kept and used again. Between two cohorts everything in a slot is wiped, and
// before it is freed again. Slots are used by one cohort at a time, a pool by all lanes.
//
// What stands where in a slot is its kind's: slot.h (AES), bit_slot.h (SHA-1).
#pragma once

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <vector>

#include "cuda/device/memory.h"

namespace tkdc::cuda {

class SlotMemory {
 public:
  // Device and pinned memory become zeros; after it the slot can serve another cohort.
  Result<void> wipe();

  std::size_t capacity() const { return capacity_; }
  Queue& queue() { return *queue_; }

 protected:
  SlotMemory(Driver& driver, std::size_t capacity)
      : driver_(driver), capacity_(capacity), device_(driver, Arena::Where::kDevice),
        pinned_(driver, Arena::Where::kPinned) {}
  // Waits: nothing may be under way when the memory goes.
  ~SlotMemory() { queue_.reset(); }

  // What was planned of both arenas, and the queue.
  Result<void> allocate_planned();

  Driver& driver_;
  const std::size_t capacity_;
  Arena device_, pinned_;

 private:
  class Wipe;
  std::unique_ptr<Queue> queue_;
};

// Of slots of one kind, which has make(driver, capacity).
template <class Kind>
class PoolOf {
 public:
  explicit PoolOf(Driver& driver) : driver_(driver) {}

  // For a cohort of so many blocks.
  Result<std::unique_ptr<Kind>> acquire(std::size_t blocks) {
    const std::size_t capacity = std::max(kLeastCapacity, std::bit_ceil(blocks));
    {
      std::lock_guard lock(mutex_);
      auto& idle = idle_[capacity];
      if (!idle.empty()) {
        std::unique_ptr<Kind> slot = std::move(idle.back());
        idle.pop_back();
        return slot;
      }
    }
    return Kind::make(driver_, capacity);
  }
  // Wipes it, and frees it when that fails or enough stand here.
  void give_back(std::unique_ptr<Kind> slot) {
    if (auto wiped = slot->wipe(); !wiped) return;  // freed, which wipes what can be
    std::lock_guard lock(mutex_);
    auto& idle = idle_[slot->capacity()];
    if (idle.size() < kMaxIdle) idle.push_back(std::move(slot));
  }

 private:
  static constexpr std::size_t kMaxIdle = 16;  // of one capacity
  static constexpr std::size_t kLeastCapacity = 64;

  Driver& driver_;
  std::mutex mutex_;
  std::map<std::size_t, std::vector<std::unique_ptr<Kind>>> idle_;
};

}  // namespace tkdc::cuda
