// SPDX-License-Identifier: Apache-2.0
// What must be true of a store's file `keys` beside its database (docs/adr/0063), faults of that
// file, and what its administrator does with it: `tkdc store rekey`.
#pragma once

#include "sim/hosts.h"
#include "sim/plan.h"

namespace tkdc::sim {

// Of that file, from the word for a refresh until its session has begun, about.
inline constexpr std::int64_t kOperationsOfKeys = 32;

// What its server does when a session has begun may wait to be done again.
bool failed_lately(const Host& host);
// What its server finds when it starts.
void look_at_keys(const Host& host);
// A transaction has written that shares were refreshed: what there was before it.
void note_refresh(const Host& host, StoreCopy before);
// When all have stopped: `keys` has what is needed, and opens no shares of before.
void judge_store_keys(ServerHost& which);

// False: it is no fault of that file.
bool make_fault_of_keys(const Fault& fault);
void mend_keys();
void new_store_keys();

}  // namespace tkdc::sim
