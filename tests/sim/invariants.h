// SPDX-License-Identifier: Apache-2.0
// What must hold all the time, and what must hold at the end. The first that falls ends the run.
#pragma once

#include "base/secret.h"

namespace tkdc::sim {

// ---- all the time
void new_invariants();
// A server has answered a job: nonces are put together of what all three answer, delivered or not.
void note_reply(int server, ByteSpan frame);
// Latches, memory, queues, fibers.
void look();

// ---- at the end, when nothing is under way
// A change of keys is half made at a server. Falls where no disk is to blame for it.
bool left_half_made();
void judge();

}  // namespace tkdc::sim
