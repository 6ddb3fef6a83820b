// SPDX-License-Identifier: Apache-2.0
// A session of two servers in which both know everything (pair/steps.h): Δ are told, random bits
// come from a seed that both have, circuits are computed in the clear. MACs, proofs, openings and
// the order of messages are the product's; a bit that is changed on its way is found as ever.
#pragma once

#include <memory>

#include "service/pair/pair_parts.h"

namespace tkdc::sim {

// As the run's plan says: its protocol, and the size of pools. Circuits that were laid out once
// serve in all runs: they depend on nothing but their names.
std::shared_ptr<const PairParts> pair_parts();

}  // namespace tkdc::sim
