// SPDX-License-Identifier: Apache-2.0
// tkdc bench sha1 --exchange host: one party's local work for cohorts of SHA-1's bulk work, without
// a network: each round as a lane does it, its message written into host memory and its
// neighbour's, which stays the same, read from there. On a device the transfers are in it; and on
// the CPU, to compare.
#pragma once

#include <nlohmann/json.hpp>

#include "rep3/unit/sha1/ripple_cohort.h"
#include "session/zero_generator.h"

namespace tkdc::bench {

struct RippleBench {
  std::size_t compressions = 4096;  // of a cohort
  double seconds = 5;
  ZeroGenerator zero_shares = ZeroGenerator::kChaCha20;
  std::size_t lanes = 1;  // cohorts under way at once, by one thread
};

// Null: the CPU. The report, once each lane's first cohort, messages and states, has been found to
// be the CPU's.
Result<nlohmann::json> measure_ripples(const sha1::RippleBackend* backend,
                                       const RippleBench& bench);

}  // namespace tkdc::bench
