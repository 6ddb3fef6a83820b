// SPDX-License-Identifier: Apache-2.0
// One party's local work for AES cohorts on the CPU, in one thread and without a network: what
// tkdc bench compares a device's party with, share by share and in speed.
#pragma once

#include "rep3/prss.h"
#include "rep3/unit/aes/cohort.h"
#include "tools/bench/start.h"

namespace tkdc::bench {

class CpuParty {
 public:
  // Party 0 of `start`, which must stay; `theirs[layer]` is what the neighbour sends, in every
  // round of every cohort.
  CpuParty(const Rep3Backend& cpu, const BenchStart& start, ZeroGenerator generator,
           const std::array<ByteSpan, AesCohort::kLayers>& theirs);

  // Each block is encrypted under its key, and is the next call's input.
  void encrypt();

  const SharedBytes& result() const { return out_; }
  // The masked message of this layer in the last round of this parity.
  ByteSpan sent_message(bool odd, int layer) const {
    return sent_[odd ? 1 : 0][static_cast<std::size_t>(layer)];
  }

 private:
  const Rep3Backend& cpu_;
  const int rounds_;
  const std::array<ByteSpan, AesCohort::kLayers> theirs_;
  Prss prss_;
  SharedBytes out_;
  std::vector<AesBlockRef> refs_;
  SecretVector sent_[2][AesCohort::kLayers];
};

}  // namespace tkdc::bench
