// SPDX-License-Identifier: Apache-2.0
// The context that computes in the clear: 64 instances side by side, one in each bit of a Bit. The
// reference for every other reader of a circuit. Inputs and outputs are wiped; what a body holds
// meanwhile is not, so it is for values that are public, or a test's. (evaluate.h wipes all.)
#pragma once

#include "base/secret.h"
#include "circuit/word.h"

namespace tkdc::circuit {

// A bit of each of 64 instances.
using Slice = std::uint64_t;
inline constexpr std::size_t kInstances = 64;
using SecretSlices = std::vector<Slice, WipingAllocator<Slice>>;

// Strings of equal length, one for each instance, 64 at most; the others are zero.
SecretSlices slices_of(std::span<const Bytes> instances);
// One string for all instances.
SecretSlices slices_of(ByteSpan octets);
// The string of one instance; the last octet is filled up with zeros.
SecretVector octets_of(std::span<const Slice> slices, std::size_t instance);

class Plain {
 public:
  using Bit = Slice;

  explicit Plain(std::vector<SecretSlices> inputs = {}) : inputs_(std::move(inputs)) {}

  Bit xor_of(Bit a, Bit b) const { return a ^ b; }
  Bit and_of(Bit a, Bit b) const { return a & b; }
  Bit not_of(Bit a) const { return ~a; }
  Bit constant(bool value) const { return value ? ~Bit{0} : Bit{0}; }

  // The next of the values that it was made with; `bits` has to be its length.
  Bits<Plain> input(const std::string&, [[maybe_unused]] std::size_t bits) {
    assert(next_ < inputs_.size() && inputs_[next_].size() == bits);
    const SecretSlices& value = inputs_[next_++];
    return {value.begin(), value.end()};
  }
  void output(const std::string&, BitSpan<Plain> value) {
    outputs_.emplace_back(value.begin(), value.end());
  }
  const std::vector<SecretSlices>& outputs() const { return outputs_; }

 private:
  std::vector<SecretSlices> inputs_, outputs_;
  std::size_t next_ = 0;
};

}  // namespace tkdc::circuit
