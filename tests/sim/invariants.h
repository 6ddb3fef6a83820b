// SPDX-License-Identifier: Apache-2.0
// What must hold all the time, and what must hold at the end. The first that falls ends the run.
#pragma once

#include <string>
#include <string_view>

#include "base/secret.h"

namespace tkdc::sim {

// ---- all the time
void new_invariants();
// A server has answered a job: nonces are put together of what all three answer, delivered or not.
void note_reply(int server, int agent, ByteSpan frame);
// What a server logs: nobody is accused who did nothing.
void note_log(const std::string& who, std::string_view text);
// Latches, memory, queues, fibers.
void look();

// ---- at the end, when nothing is under way
void judge();

}  // namespace tkdc::sim
