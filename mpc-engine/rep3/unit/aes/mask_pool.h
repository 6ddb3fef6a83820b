// SPDX-License-Identifier: Apache-2.0
// Masks of AES states made ahead, with their one-hot vectors on shares
// (docs/protocols/16-one-hot-aes.md).
//
// A mask is 16 random octets that nobody knows, r. Vectors are sums of monomials of r's
// bits: 11 products for each nibble, 22 bits for each octet in 2 rounds, give the vectors
// of its nibbles ("halves"), 225 more in a third one those of the octet ("whole"). In
// malicious mode a mask enters the pool after all of these products have been verified.
//
// A mask is used once: take() removes it, and what is taken and not used is lost. What
// the pool holds follows from what the lane's protocols did, so it is the same at all
// three parties, and so is every decision that asks it. Bounded. Secret. Used by one
// lane's thread.
#pragma once

#include <deque>
#include <vector>

#include "rep3/rep3.h"

namespace tkdc {

// For one S-box layer of a cohort: masks of 16 octets for each block, one after the
// other, and of each octet the one-hot vectors.
struct LayerMask {
  SharedBytes r;
  // Halves: low, then high nibble's, 2 octets each. Whole: 32 octets. Little-endian.
  SharedBytes vectors;
  static constexpr std::size_t kHalvesBytes = 4, kWholeBytes = 32;
};

class MaskPool {
 public:
  // How many masks of a state there are, or may be.
  struct Count {
    std::size_t halves = 0, whole = 0;
    bool operator==(const Count&) const = default;
  };
  // What encrypting or decrypting blocks takes.
  static Count needed(std::size_t blocks, int rounds) {
    return {blocks * (static_cast<std::size_t>(rounds) - 1), blocks};
  }

  MaskPool(Rep3& rep3, Count capacity) : rep3_(rep3), capacity_(capacity) {}
  MaskPool(const MaskPool&) = delete;

  // Makes that many more, or as many as there is room for; done when they are here. Needs
  // a Verifier on the lane in malicious mode.
  Task<void> fill(Count wanted);

  // Of one layer of each round, the last one whole. Call only when it has() them.
  bool has(Count wanted) const {
    return wanted.halves <= halves_.size() && wanted.whole <= whole_.size();
  }
  std::vector<LayerMask> take(std::size_t blocks, int rounds);

  Count held() const { return {halves_.size(), whole_.size()}; }
  Count capacity() const { return capacity_; }
  // Being made.
  Count coming() const { return coming_; }
  std::uint64_t made() const { return made_; }  // masks, since the beginning

 private:
  static LayerMask take_from(std::deque<LayerMask>& masks, std::size_t count);

  Rep3& rep3_;
  const Count capacity_;
  Count coming_;
  std::uint64_t made_ = 0;
  std::deque<LayerMask> halves_, whole_;  // of one block each
};

}  // namespace tkdc
