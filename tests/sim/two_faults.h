// SPDX-License-Identifier: Apache-2.0
// Faults of realms on two servers: a failure or a crash at a named step of what they write, reads
// that fail while keys are refreshed, both servers down at once, and an administrator of one who
// changes what his store says of a key.
#pragma once

#include "sim/plan.h"
#include "sim/random.h"

namespace tkdc::sim {

void add_faults_of_two(std::vector<Fault>& faults, Random& random, std::int64_t last_ms);
// False: it is none of these.
bool make_fault_of_two(const Fault& fault);
// When nothing is to be wrong any more.
void mend_two();
void new_two_faults();

}  // namespace tkdc::sim
