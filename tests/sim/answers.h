// SPDX-License-Identifier: Apache-2.0
// What agents have asked each server, and what must be so of its answers: a line of the audit log
// for each, no two for one request, and no result of what servers did not get alike.
#pragma once

#include "service/wire/message.h"

namespace tkdc::sim {

void new_answers();
// A server starts: what it was asked before nobody answers.
void forget_asked(int server);
// How much of an agent's it has not answered yet.
std::size_t unanswered(int server, int agent);
void note_request(int server, int agent, const JobRequest& request);
// Before it is sent.
void note_answer(int server, int agent, const JobReply& reply);
// What a server's log still has of before, or a new disk.
void begin_log_anew(int server);

}  // namespace tkdc::sim
