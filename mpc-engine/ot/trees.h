// SPDX-License-Identifier: Apache-2.0
// Punctured trees: from base OTs to chunks of 2^k seeds, all of which one party knows and the other
// all but one (Roy, "SoftSpokenOT", CRYPTO 2022, ePrint 2022/192, section 6 and figure 14).
//
// A chunk of k columns is a binary tree of k levels. Whoever grows it sends, for each level, the
// sums of all left and of all right children, each under a key of a base OT. Who punctures it at
// leaf α chooses, for each level, the sum on the side that α's path leaves: so it knows every leaf
// but α. At the end both derive a seed and a check of 32 octets from each leaf; the grower sends
// the checks' sum and their hash, which fixes all leaves before α can matter.
//
// What a changed grower gains: it may guess, for each chunk, a set in which α lies; where one guess
// is wrong the other party stops. α is secret and all of Δ's bits of the chunk: no branch and no
// address depends on it, but for that one stop.
//
// Calls block; one thread. Secret: seeds, keys, α. Error: the channel's; a tree that does not fit.
#pragma once

#include "ot/channel.h"
#include "ot/kernel.h"

namespace tkdc::ot {

// 128 columns in chunks of k, of which the last may have fewer.
class Chunks {
 public:
  explicit Chunks(unsigned k) : k_(k) {}
  unsigned k() const { return k_; }
  std::size_t count() const { return (kColumns + k_ - 1) / k_; }
  unsigned levels(std::size_t chunk) const {
    return static_cast<unsigned>(std::min<std::size_t>(k_, kColumns - chunk * k_));
  }
  std::size_t leaves(std::size_t chunk) const { return std::size_t{1} << levels(chunk); }
  std::size_t all_leaves() const {
    std::size_t sum = 0;
    for (std::size_t chunk = 0; chunk < count(); ++chunk) sum += leaves(chunk);
    return sum;
  }

 private:
  unsigned k_;
};

// The choice for the base OT of a column, of whoever punctures the trees at Δ's bits.
inline std::uint8_t base_choice(const Label& delta, std::size_t column) {
  const std::uint64_t word = column < 64 ? delta.low : delta.high;
  return static_cast<std::uint8_t>((word >> (column % 64) & 1) ^ 1);
}

// Both get the seeds of all chunks in one row. `zero`, `one`, `chosen`: a key for each column.
Result<Labels> grow_trees(Channel& channel, ByteSpan context, const Chunks& chunks,
                          std::span<const Label> zero, std::span<const Label> one);
// Seed y of a chunk stands for leaf y ⊕ α; seed 0 is none.
Result<Labels> puncture_trees(Channel& channel, ByteSpan context, const Chunks& chunks,
                              const Label& delta, std::span<const Label> chosen);

}  // namespace tkdc::ot
