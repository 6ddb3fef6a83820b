// SPDX-License-Identifier: Apache-2.0
#include "garble/garbler.h"

#include <cstring>

namespace tkdc::garble {

Garbler::Garbler(std::span<const ByteSpan> seeds, const Kernel& kernel, std::uint64_t first_tweak)
    : Instances(seeds.size(), kernel, first_tweak) {
  for (const ByteSpan seed : seeds) {
    inputs_.emplace_back(seed, Purpose::kInputs);
    keys_.emplace_back(seed, Purpose::kKeys);
  }
  for (std::size_t s = 0; s < kSideBySide; ++s)
    deltas()->of[s] = draw_delta(seeds[s % seeds.size()]);
}

SecretLabels Garbler::draw_inputs(std::size_t bits) {
  SecretLabels out(bits * count()), one(bits);
  for (std::size_t s = 0; s < count(); ++s) {
    inputs_[s].fill(one.span());
    for (std::size_t k = 0; k < bits; ++k) out.span()[k * count() + s] = one.span()[k];
  }
  return out;
}

void Garbler::begin(const circuit::Schedule& schedule, std::span<const Label> zero_labels) {
  Instances::begin(schedule, zero_labels);
}

std::size_t Garbler::garble(std::span<std::uint8_t* const> places, std::size_t room) {
  assert(places.size() == count());
  const auto on_key = [&](std::size_t at, std::span<Label> keys) {
    for (std::size_t s = 0; s < keys.size(); ++s) {
      keys[s] = keys_[s].next();
      std::memcpy(places[s] + at, &keys[s], kLabelBytes);
    }
  };
  const std::size_t octets = advance(room, on_key, [&](const AndBatch& batch, std::size_t at) {
    std::array<std::uint8_t*, kSideBySide> tables;
    for (std::size_t s = 0; s < places.size(); ++s) tables[s] = places[s] + at;
    kernel().garble(batch, *deltas(), tables.data());
  });
  if (done()) wipe_stack();
  return octets;
}

Label Garbler::output(std::size_t bit, std::size_t instance) const {
  const circuit::Schedule::Output& output = schedule().output_bits[bit];
  const Label label = output.slot == circuit::Schedule::Output::kConstant
                          ? Label()
                          : slots()[output.slot * count() + instance];
  return label ^ delta(instance).where(output.complement ? 1 : 0);
}

}  // namespace tkdc::garble
