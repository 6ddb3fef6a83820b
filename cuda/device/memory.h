// SPDX-License-Identifier: Apache-2.0
// One allocation on a device, or of pinned host memory, cut into parts. Both kinds hold shares:
// the driver wipes them when they go back. Used by one cohort.
#pragma once

#include "cuda/device/driver.h"

namespace tkdc::cuda {

class Arena {
 public:
  enum class Where : std::uint8_t { kDevice, kPinned };

  Arena(Driver& driver, Where where) : driver_(driver), where_(where) {}
  Arena(const Arena&) = delete;
  ~Arena() {
    if (where_ == Where::kDevice)
      driver_.release(memory_, octets_);
    else
      driver_.release_pinned(memory_, octets_);
  }

  // Parts are planned first, in order; allocate() makes room for all, take() hands them out.
  void plan(std::size_t octets) { octets_ += rounded(octets); }
  Result<void> allocate() {
    auto memory =
        where_ == Where::kDevice ? driver_.allocate(octets_) : driver_.allocate_pinned(octets_);
    if (!memory) return memory.error();
    memory_ = *memory;
    return {};
  }
  void* memory() const { return memory_; }
  std::size_t octets() const { return octets_; }
  template <class T>
  T* take(std::size_t octets) {
    auto* part = static_cast<std::uint8_t*>(memory_) + used_;
    used_ += rounded(octets);
    assert(used_ <= octets_);
    return reinterpret_cast<T*>(part);
  }

 private:
  static std::size_t rounded(std::size_t octets) { return (octets + 255) / 256 * 256; }

  Driver& driver_;
  const Where where_;
  void* memory_ = nullptr;
  std::size_t octets_ = 0, used_ = 0;
};

}  // namespace tkdc::cuda
