// SPDX-License-Identifier: Apache-2.0
// Executes a schedule in the clear on 64 instances side by side.
#pragma once

#include "circuit/plain.h"
#include "circuit/schedule.h"

namespace tkdc::circuit {

// `slots` has schedule.slots slots, the inputs in the first; afterwards output k is
// output_slice(schedule, slots, k).
void execute(const Schedule& schedule, std::span<Slice> slots);
Slice output_slice(const Schedule& schedule, std::span<const Slice> slots, std::size_t k);

// From the inputs' values to the outputs'.
std::vector<SecretSlices> evaluate(const Schedule& schedule, std::span<const SecretSlices> inputs);

}  // namespace tkdc::circuit
