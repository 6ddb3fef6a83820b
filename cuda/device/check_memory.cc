// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/check_memory.h"

namespace tkdc::cuda {

Result<std::unique_ptr<CheckMemory>> CheckMemory::make(Driver& driver, const Size& size) {
  std::unique_ptr<CheckMemory> memory(new CheckMemory(driver));
  memory->device_.plan(size.first);
  memory->pinned_.plan(size.second);
  if (auto done = memory->allocate_planned(); !done) return done.error();
  return memory;
}

}  // namespace tkdc::cuda
