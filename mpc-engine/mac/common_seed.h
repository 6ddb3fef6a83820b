// SPDX-License-Identifier: Apache-2.0
// A seed that all three parties know, none of them chose, and nobody else learns.
//
//   1  all  commitment: BLAKE2b-256 of label, number, party and 32 random octets
//   2  all  the octets; the seed is the sum of the three parties'
//   3  all  malicious mode: they compare the seed (Lane::agree)
//
// A party reveals its octets when it has both commitments, so whoever waits for the others' has
// fixed its own. Two honest parties that were told different octets deviate in tick 3; in
// semi-honest mode nobody tells different ones. Secret: the seed, to everybody else.
#pragma once

#include "lane/lane.h"

namespace tkdc {

inline constexpr std::size_t kCommonSeedBytes = 32;

// `number`: of no other call in this lane. Empty: somebody revealed what it had not committed to.
Task<SecretVector> common_seed(Lane& lane, std::uint64_t number);

}  // namespace tkdc
