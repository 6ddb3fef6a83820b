// SPDX-License-Identifier: Apache-2.0
// The memory that one cohort, or the check of one batch, needs on a device and beside it, with its
// queue; and a pool of such. Allocating device and pinned memory, and capturing graphs, costs more
// than a cohort's rounds: memory is kept and used again. In between everything in it is wiped, and
// before it is freed again. Used by one cohort or batch at a time, a pool by all lanes. Where a
// device has no more memory, what all of its pools keep goes first.
//
// What stands where is its kind's: slot.h (AES), bit_slot.h (SHA-1), check_memory.h (the check).
#pragma once

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "cuda/device/memory.h"

namespace tkdc::cuda {

class PooledMemory {
 public:
  // Device and pinned memory become zeros; after it another cohort or batch may have it.
  Result<void> wipe();

  Queue& queue() { return *queue_; }

 protected:
  explicit PooledMemory(Driver& driver)
      : driver_(driver), device_(driver, Arena::Where::kDevice),
        pinned_(driver, Arena::Where::kPinned) {}
  // Waits: nothing may be under way when the memory goes.
  ~PooledMemory() { queue_.reset(); }

  // What was planned of both arenas, and the queue.
  Result<void> allocate_planned();

  Driver& driver_;
  Arena device_, pinned_;

 private:
  class Wipe;
  std::unique_ptr<Queue> queue_;
};

// A cohort's: sizes are blocks or columns.
class SlotMemory : public PooledMemory {
 public:
  using Size = std::size_t;
  static constexpr std::size_t kMaxIdle = 16;  // of one size
  static Size size_for(std::size_t blocks) { return std::max(kLeast, std::bit_ceil(blocks)); }

  std::size_t capacity() const { return capacity_; }
  Size size() const { return capacity_; }

 protected:
  SlotMemory(Driver& driver, std::size_t capacity) : PooledMemory(driver), capacity_(capacity) {}

  const std::size_t capacity_;

 private:
  static constexpr std::size_t kLeast = 64;
};

// Of memory of one kind, which has make(driver, size).
template <class Kind>
class PoolOf {
 public:
  using Size = typename Kind::Size;
  // `make_room` frees what stands idle, here and in other pools.
  explicit PoolOf(
      Driver& driver, std::function<void()> make_room = [] {})
      : driver_(driver), make_room_(std::move(make_room)) {}

  // At least of this size.
  Result<std::unique_ptr<Kind>> acquire(const Size& least) {
    const Size size = Kind::size_for(least);
    {
      std::lock_guard lock(mutex_);
      auto& idle = idle_[size];
      if (!idle.empty()) {
        std::unique_ptr<Kind> memory = std::move(idle.back());
        idle.pop_back();
        return memory;
      }
    }
    auto made = Kind::make(driver_, size);
    if (made) return made;
    make_room_();  // again in any case: another lane may have made it meanwhile
    return Kind::make(driver_, size);
  }
  void free_idle() {
    std::map<Size, std::vector<std::unique_ptr<Kind>>> idle;  // freed without the lock
    std::lock_guard lock(mutex_);
    idle.swap(idle_);
  }
  // Wipes it, and frees it when that fails or enough stands here.
  void give_back(std::unique_ptr<Kind> memory) {
    if (auto wiped = memory->wipe(); !wiped) return;  // freed, which wipes what can be
    std::lock_guard lock(mutex_);
    auto& idle = idle_[memory->size()];
    if (idle.size() < Kind::kMaxIdle) idle.push_back(std::move(memory));
  }

 private:
  Driver& driver_;
  const std::function<void()> make_room_;
  std::mutex mutex_;
  std::map<Size, std::vector<std::unique_ptr<Kind>>> idle_;
};

}  // namespace tkdc::cuda
