// SPDX-License-Identifier: Apache-2.0
// What a server of two is made of besides its options, where it is not what a server has by itself:
// tests/sim gives it other steps, smaller pools, and circuits that all its servers have laid out.
#pragma once

#include "pair/steps.h"
#include "service/pair/pair_circuits.h"

namespace tkdc {

struct PairParts {
  pair::MakeSteps steps;                   // unset: by oblivious transfer and garbling
  std::shared_ptr<PairCircuits> circuits;  // null: its own
  std::size_t pool_blocks = 0;             // of a new pool; 0: as JobServiceOptions has it
  // Called by the lane's thread with blocks that both have taken, before they serve.
  std::function<void(const pair::Label& pool, std::uint64_t first, std::uint64_t blocks)> reserved;
};

}  // namespace tkdc
