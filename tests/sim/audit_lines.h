// SPDX-License-Identifier: Apache-2.0
// Nobody gets what no line of the server's audit log says that he got, and no line says it twice.
// Requests, lines and answers of one life of a server are counted, from its start to its end. An
// answer may be lost behind its line: to an agent that is gone, or after its deadline.
#pragma once

#include "service/wire/message.h"
#include "sim/world.h"

namespace tkdc::sim {

void new_audit_lines();
// It has started, and has answered nothing yet.
void note_life(const Host& host);
// An agent asks it for work.
void note_request(const Host& host, const JobRequest& request);
// It has done that: not its status, and no list, which no line tells.
void note_answer(const Host& host);
// It has ended in order.
void judge_audit_lines(const Host& host);

}  // namespace tkdc::sim
