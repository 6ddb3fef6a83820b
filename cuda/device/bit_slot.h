// SPDX-License-Identifier: Apache-2.0
// What a cohort on bit planes has in memory: see pool.h. About 460 octets for a column on the
// device, 200 pinned.
#pragma once

#include "cuda/device/pool.h"

namespace tkdc::cuda {

class BitSlot : public SlotMemory {
 public:
  // For cohorts of up to `capacity` columns.
  static Result<std::unique_ptr<BitSlot>> make(Driver& driver, std::size_t capacity);

  // In device memory: the parts that View and its BitView name.
  View view{};
  Tick* device_tick = nullptr;
  // In pinned memory.
  Tick* tick = nullptr;
  BitProgram* program = nullptr;
  std::uint8_t* octets[2] = {};
  std::uint8_t *mine = nullptr, *theirs = nullptr;
  std::uint8_t* packed[2][2] = {};

 private:
  BitSlot(Driver& driver, std::size_t capacity) : SlotMemory(driver, capacity) {}
  Result<void> allocate();
};

using BitSlotPool = PoolOf<BitSlot>;

}  // namespace tkdc::cuda
