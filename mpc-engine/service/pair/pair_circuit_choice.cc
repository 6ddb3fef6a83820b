// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_circuit_choice.h"

namespace tkdc {

using Answer = InstanceQuotas::Answer;

std::uint8_t PairCircuitChoice::made_for(const PairJob& of, PairHeld held,
                                         const SupplyOf& supply_of) {
  ready_.clear();
  answer_ = Answer::kGranted;
  std::uint8_t out = 0;
  // PRF+ that was kept takes no circuit.
  const std::size_t first = of.derivation && held == PairHeld::kPrf ? 1 : 0;
  for (std::size_t k = first; k < of.kinds.size(); ++k) {
    const Supply supply = supply_of(of.kinds[k]);
    const Answer answer = quotas_.ask(of, {of.kinds[k], supply.ready, supply.wanted, 0});
    if (answer == Answer::kGranted) {
      ready_.push_back(supply.ready > 0);
      continue;
    }
    out = static_cast<std::uint8_t>(out | 1U << k);
    answer_ = answer;
  }
  return out;
}

void PairCircuitChoice::settle(const JobName& name, bool by_circuits) {
  for (const bool ready : ready_) quotas_.settle(name, by_circuits && ready);
  ready_.clear();
}

}  // namespace tkdc
