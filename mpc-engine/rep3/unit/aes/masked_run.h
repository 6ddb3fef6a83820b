// SPDX-License-Identifier: Apache-2.0
// AES of few blocks in one round per AES round, by masks made ahead (mask_pool.h).
//
// Before each S-box layer all parties know t = a + r, a the layer's input and r a
// mask, and hold r and its one-hot vectors on shares. Each has terms of a^-1 and so, the
// rest of the round being linear, of the next layer's input; it adds its share of the next
// mask and a zero-share and sends that to both others: 16 bits for each S-box. The
// first t is an opening; after the last layer, whose vectors are whole, the output
// is on shares at once. Rounds: 10 for AES-128, 14 for AES-256.
//
// Malicious mode, two rounds more (docs/protocols/16-one-hot-aes.md):
//   before the first t the servers compare which jobs they run, if that has changed since
//   they last did: an input that only one of them knows of must not meet a mask;
//   after the last, what they were sent, by digest. Then a wrong message can only have added
//   a constant to a^-1, which the claims find: a^2 s = a and s^2 a = s.
// Used by one lane's thread.
#pragma once

#include <vector>

#include "rep3/unit/aes/cohort.h"
#include "rep3/unit/aes/mask_pool.h"

namespace tkdc {

enum class AesDirection : std::uint8_t { kEncrypt, kDecrypt };

class MaskedRuns {
 public:
  explicit MaskedRuns(Rep3& rep3) : rep3_(rep3) {}
  MaskedRuns(const MaskedRuns&) = delete;

  // `masks`: what MaskPool::take() gave. Goes on only if all three were sent the same: else this
  // server deviates (Lane::deviation()), and nothing is written.
  Task<void> run(std::vector<AesBlockRef> blocks, int rounds, AesDirection direction,
                 std::vector<LayerMask> masks);

  std::uint64_t blocks() const { return blocks_; }

 private:
  Rep3& rep3_;
  std::uint64_t blocks_ = 0;
};

}  // namespace tkdc
