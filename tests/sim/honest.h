// SPDX-License-Identifier: Apache-2.0
// What must be true of the honest servers of three while one lies: what two of them answer fits
// together, no word of one server pushes their nonce epochs far ahead, and once they serve again
// their stores are alike.
#pragma once

#include "service/wire/message.h"

namespace tkdc::sim {

inline constexpr const char* kStoresRestored = "two-faced: stores had to be restored";

void new_honest();
// A server's answer to one agent, as its program means it.
void note_honest_answer(int server, int agent, const JobReply& reply);
// Every second.
void look_at_epochs();
// Before a lie about what is half made: two honest servers may come to different ends. Then they
// serve no more, and an operator has all three restored when the liar is gone.
void keep_stores();
void restore_stores();
// Of two honest stores, when somebody has lied.
void judge_honest_stores();

}  // namespace tkdc::sim
