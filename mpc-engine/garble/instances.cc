// SPDX-License-Identifier: Apache-2.0
#include "garble/instances.h"

#include <cstring>

namespace tkdc::garble {

Instances::Instances(std::size_t count, const Kernel& kernel, std::uint64_t first_tweak)
    : kernel_(kernel), count_(count), tweak_(first_tweak), key_ends_(first_tweak) {
  assert(count == 1 || count == kSideBySide);
  assert(first_tweak % kTweaksPerAnd == 0 && first_tweak < kTweaksPerKey);
}

void Instances::begin(const circuit::Schedule& schedule, std::span<const Label> labels) {
  assert(labels.size() == circuit::Circuit::total(schedule.inputs) * count_);
  const std::size_t bytes = schedule.slots * count_ * kLabelBytes;
  if (slots_.size() < bytes) slots_ = aligned_secret(bytes);
  std::copy(labels.begin(), labels.end(), slots());
  walk_.begin(schedule);
}

std::size_t Instances::next_octets(std::size_t most) const {
  std::size_t octets = 0;
  std::uint64_t ands = walk_.ands_left(), under_key = tweaks_left() / kTweaksPerAnd;
  std::uint64_t tweak = tweak_;
  while (ands > 0) {
    if (under_key == 0) {
      if (most - octets < kLabelBytes) break;
      octets += kLabelBytes;
      under_key = (kTweaksPerKey - tweak % kTweaksPerKey) / kTweaksPerAnd;
    }
    const std::uint64_t fit =
        std::min<std::uint64_t>({ands, under_key, (most - octets) / kTableBytes});
    if (fit == 0) break;
    octets += kTableBytes * fit;
    ands -= fit;
    under_key -= fit;
    tweak += kTweaksPerAnd * fit;
  }
  return octets;
}

}  // namespace tkdc::garble
