// SPDX-License-Identifier: Apache-2.0
// Memory that is refused. An allocation of a server that fails throws, nobody catches it, and its
// process ends there (docs/testing.md). What it had done before is seen, and nothing after: so its
// host crashes before what it does next that anybody sees, a packet, a disk operation or a wait.
#pragma once

#include "sim/fibers.h"

namespace tkdc::sim {

// Before each such thing. True: an allocation was refused since the last one, and the host is dead.
bool ends_for_want_of_memory(Host& host);
void new_memory();

// Whose fiber runs; null: nobody's. What is allocated meanwhile is its host's until it is freed.
void pays(const Host* host);
// In octets, by `new`; of a server or an agent, in this run.
std::int64_t memory_of(const Host& host);

}  // namespace tkdc::sim
