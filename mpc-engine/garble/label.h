// SPDX-License-Identifier: Apache-2.0
// Wire labels: 128 bits, of which the lowest is the colour. In memory, in tables and on the wire a
// label is 16 octets, low word first.
//
// Secret: labels, and Δ most of all. A garbler's zero-label W⁰ stands for 0, W⁰ ⊕ Δ for 1; Δ has
// the colour 1, so the two labels of a wire have different colours. An evaluator holds one of them
// and does not know which.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tkdc::garble {

struct alignas(16) Label {
  std::uint64_t low = 0, high = 0;

  bool operator==(const Label&) const = default;  // for tests: not in constant time
  friend Label operator^(Label a, Label b) { return {a.low ^ b.low, a.high ^ b.high}; }
  friend Label operator&(Label a, Label b) { return {a.low & b.low, a.high & b.high}; }
  std::uint64_t colour() const { return low & 1; }
  // This label where its bit is set, else zero; without a branch.
  Label where(std::uint64_t bit) const { return {low & (0 - bit), high & (0 - bit)}; }
};

inline constexpr std::size_t kLabelBytes = sizeof(Label);
static_assert(kLabelBytes == 16);

// Instances of one circuit that a kernel takes side by side: one, or as many as fill a register.
inline constexpr std::size_t kSideBySide = 4;

}  // namespace tkdc::garble
