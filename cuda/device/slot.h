// SPDX-License-Identifier: Apache-2.0
// The memory that one cohort needs on a device and beside it, with its queue; and a pool of such
// slots. Allocating device and pinned memory, and capturing graphs, costs more than a cohort's
// rounds: slots are kept and used again. Between two cohorts everything in a slot is wiped, and
// before it is freed again. Slots are used by one cohort at a time, the pool by all lanes.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "cuda/device/memory.h"

namespace tkdc::cuda {

class Slot {
 public:
  // For cohorts of up to `capacity` blocks, in octets or in planes.
  static Result<std::unique_ptr<Slot>> make(Driver& driver, std::size_t capacity);
  ~Slot();

  // Device and pinned memory become zeros; after it the slot can serve another cohort.
  Result<void> wipe();

  std::size_t capacity() const { return capacity_; }
  Queue& queue() { return *queue_; }

  // In device memory: the parts that View names, for a cohort that encrypts.
  View view{};
  Word* spare[2] = {};
  Tick* device_tick = nullptr;
  // In pinned memory. Messages: [of odd rounds][layer].
  Tick* tick = nullptr;
  std::uint8_t* key = nullptr;
  std::uint32_t* run_of = nullptr;
  std::uint8_t *octets[2] = {}, *input[2] = {};
  std::uint8_t *mine[2][kLayers] = {}, *theirs[2][kLayers] = {};

 private:
  Slot(Driver& driver, std::size_t capacity);
  Result<void> allocate();
  class Wipe;

  Driver& driver_;
  const std::size_t capacity_;
  Arena device_, pinned_;
  std::unique_ptr<Queue> queue_;
};

class SlotPool {
 public:
  explicit SlotPool(Driver& driver) : driver_(driver) {}

  Result<std::unique_ptr<Slot>> acquire(std::size_t blocks);
  // Wipes it, and frees it when that fails or enough stand here.
  void give_back(std::unique_ptr<Slot> slot);

 private:
  static constexpr std::size_t kMaxIdle = 16;  // of one capacity
  static constexpr std::size_t kLeastCapacity = 64;

  Driver& driver_;
  std::mutex mutex_;
  std::map<std::size_t, std::vector<std::unique_ptr<Slot>>> idle_;
};

}  // namespace tkdc::cuda
