// SPDX-License-Identifier: Apache-2.0
// What an AES cohort has in memory: see pool.h.
#pragma once

#include "cuda/device/pool.h"

namespace tkdc::cuda {

class Slot : public SlotMemory {
 public:
  // For cohorts of up to `capacity` blocks, in octets or in planes.
  static Result<std::unique_ptr<Slot>> make(Driver& driver, std::size_t capacity);

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
  Slot(Driver& driver, std::size_t capacity) : SlotMemory(driver, capacity) {}
  Result<void> allocate();
};

using SlotPool = PoolOf<Slot>;

}  // namespace tkdc::cuda
