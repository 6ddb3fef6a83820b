// SPDX-License-Identifier: Apache-2.0
// Compressions in the shape of the fewest bits that run in step: the interface between the
// protocol (sha1.cc) and who computes, the CPU (ripple.h) or a device (cuda/device/ripple.h).
// All send the same octets and make the same claims. Used by one lane's thread.
#pragma once

#include <memory>
#include <vector>

#include "rep3/rep3.h"

namespace tkdc::sha1 {

// The state before, and the block, of a column; both of 32-bit words, big-endian. They belong to
// who awaits the compression; every column's state is its own.
struct RippleBlock {
  SharedBytes* state;
  const SharedBytes* data;
};

class RippleCohort {
 public:
  virtual ~RippleCohort() = default;
  // The next round's products; false when there is none, and every state is the one after
  // its block. Then write() and read() its message.
  virtual bool next() = 0;
  virtual std::size_t bytes() const = 0;
  virtual void write(std::uint8_t* message) = 0;
  // Instead of write(), for a cohort that adds the zero-share too; as AesCohort's.
  virtual bool start_masked(const ZeroShare&) { return false; }
  virtual void finish_masked(std::uint8_t*) {}
  // Takes the layer's shares, and claims each of its bits.
  virtual void read(const std::uint8_t* mine, const std::uint8_t* theirs) = 0;
};

class RippleBackend {
 public:
  virtual ~RippleBackend() = default;
  // `claims` is null in semi-honest mode.
  virtual std::unique_ptr<RippleCohort> make(int party, ClaimLog* claims,
                                             std::vector<RippleBlock> blocks) const = 0;
};

}  // namespace tkdc::sha1
