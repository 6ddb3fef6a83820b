// SPDX-License-Identifier: Apache-2.0
#include "garble/evaluator.h"

#include <cstring>

namespace tkdc::garble {

std::size_t Evaluator::evaluate(std::span<const std::uint8_t* const> tables, std::size_t octets) {
  assert(tables.size() == count());
  const auto on_key = [&](std::size_t at, std::span<Label> keys) {
    for (std::size_t s = 0; s < keys.size(); ++s)
      std::memcpy(&keys[s], tables[s] + at, kLabelBytes);
  };
  const std::size_t used = advance(octets, on_key, [&](const AndBatch& batch, std::size_t at) {
    std::array<const std::uint8_t*, kSideBySide> here;
    for (std::size_t s = 0; s < tables.size(); ++s) here[s] = tables[s] + at;
    kernel().evaluate(batch, here.data());
  });
  if (done()) wipe_stack();
  return used;
}

Label Evaluator::output(std::size_t bit, std::size_t instance) const {
  const circuit::Schedule::Output& output = schedule().output_bits[bit];
  if (output.slot == circuit::Schedule::Output::kConstant) return {};
  return slots()[output.slot * count() + instance];
}

}  // namespace tkdc::garble
