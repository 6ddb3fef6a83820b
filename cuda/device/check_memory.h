// SPDX-License-Identifier: Apache-2.0
// What the check of one batch has in memory: see pool.h; check_layout.h says what stands where.
#pragma once

#include "cuda/device/pool.h"

namespace tkdc::cuda {

class CheckMemory : public PooledMemory {
 public:
  using Size = std::pair<std::size_t, std::size_t>;  // octets on the device, pinned octets
  static constexpr std::size_t kMaxIdle = 8;         // of one size
  static Size size_for(const Size& least) {
    return {std::bit_ceil(least.first), std::bit_ceil(least.second)};
  }
  static Result<std::unique_ptr<CheckMemory>> make(Driver& driver, const Size& size);

  Size size() const { return {device_.octets(), pinned_.octets()}; }
  const Arena& device() const { return device_; }
  const Arena& pinned() const { return pinned_; }

 private:
  using PooledMemory::PooledMemory;
};

using CheckPool = PoolOf<CheckMemory>;

}  // namespace tkdc::cuda
