// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/cpu_party.h"

namespace tkdc::bench {
namespace {

PairwiseKeys keys_of(const cuda::ResidentInput& input, ZeroGenerator generator) {
  PairwiseKeys keys;
  std::copy_n(input.mine.data(), 32, keys.mine.data());
  std::copy_n(input.next.data(), 32, keys.next.data());
  keys.zero_generator = generator;
  return keys;
}

}  // namespace

CpuParty::CpuParty(const Rep3Backend& cpu, const BenchStart& start, ZeroGenerator generator,
                   const std::array<ByteSpan, AesCohort::kLayers>& theirs)
    : cpu_(cpu), rounds_(static_cast<int>(start.inputs[0].round_keys[0].size() / 16) - 1),
      theirs_(theirs), prss_(keys_of(start.inputs[0], generator)), out_(start.inputs[0].blocks),
      refs_(out_.size() / 16) {
  for (std::size_t b = 0; b < refs_.size(); ++b)
    for (int c = 0; c < 2; ++c) {
      refs_[b].in[c] = refs_[b].out[c] = out_.component[c].data() + 16 * b;
      refs_[b].round_keys[c] = start.inputs[0].round_keys[b / kBlocksPerKey].component[c].data();
    }
}

// FIPS 197, section 5.1.
void CpuParty::encrypt() {
  auto cohort = cpu_.make_cohort(0, refs_.size());
  cohort->load(refs_);
  cohort->add_round_key(refs_, 0);
  for (int round = 1; round <= rounds_; ++round) {
    for (int layer = 0; layer < AesCohort::kLayers; ++layer) {
      SecretVector& message = sent_[round % 2][layer];
      message.resize(cohort->message_bytes(layer));
      cohort->terms(layer, message.data());
      prss_.add_zero_share(message.data(), message.size());
      cohort->absorb(layer, message.data(), theirs_[static_cast<std::size_t>(layer)].data());
    }
    cohort->sub_shift_mix(round == rounds_);
    cohort->add_round_key(refs_, round);
  }
  cohort->store(refs_);
}

}  // namespace tkdc::bench
