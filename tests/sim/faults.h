// SPDX-License-Identifier: Apache-2.0
// The plan's faults, each in its time, and their ends; a service manager's restarts and an
// operator's hand where a server waits for one.
#pragma once

#include "sim/plan.h"
#include "sim/random.h"

namespace tkdc::sim {

class ServerHost;

// Of a server's store, from the word for a refresh until its session has begun, about.
inline constexpr std::int64_t kCommitsOfRefresh = 12;
// And of a change of one key: two, and what else is written meanwhile.
inline constexpr std::int64_t kCommitsOfChange = 3;

// A random mix for this seed: of each kind many, few or none.
std::vector<Fault> some_faults(Random& random, const Plan& plan);

void start_faults();
// A store of some time ago is in the place of today's.
bool old_store_in_place();
// Everything is mended: lines, disks, clocks, stores, servers, latches.
void make_calm();
// One that is down, unless somebody works on it, or everything is mended.
void boot_when_ended(ServerHost& which);
// When all is well, a connection is lost where its loss is hardest to see.
void break_in_a_handshake();

}  // namespace tkdc::sim
