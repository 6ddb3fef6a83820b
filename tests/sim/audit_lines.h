// SPDX-License-Identifier: Apache-2.0
// Nobody gets what no line of the server's audit log says that he got, and no line says it twice.
// Lines and answers of one life of a server are counted: from its start to its end.
#pragma once

#include "sim/world.h"

namespace tkdc::sim {

void new_audit_lines();
// It has started, and has answered nothing yet.
void note_life(const Host& host);
// It answers a job: not its status, which no line tells.
void note_answer(const Host& host);
// It has ended in order: what it has answered is what its lines say.
void judge_audit_lines(const Host& host);

}  // namespace tkdc::sim
