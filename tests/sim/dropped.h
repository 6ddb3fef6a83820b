// SPDX-License-Identifier: Apache-2.0
// Keys that were removed and are kept for a while (docs/protocols/28-dropped-keys.md): listed,
// purged, given back with two administrators' approval, and asked back without it.
#pragma once

#include "sim/model.h"

namespace tkdc::sim {

// By an administrator, one at a time for each key.
void change_a_dropped_key();
// How many purges and givings back have been asked for.
int dropped_changes();
// At the end: what kadmin was told of purges.
void judge_dropped();

}  // namespace tkdc::sim
