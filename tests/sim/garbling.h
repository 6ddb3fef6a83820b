// SPDX-License-Identifier: Apache-2.0
// Operations by garbled circuits between three servers: how a run's servers are configured for
// them, what is seen of each instance while it is made and serves, and what must be true of them:
// an instance serves once, no tables leave twice, and where one server has found something wrong
// none that is honest has a result.
#pragma once

#include <memory>
#include <string_view>

#include "base/secret.h"
#include "service/garbled/garbling_options.h"
#include "sim/plan.h"
#include "sim/world.h"

namespace tkdc {
struct GarblingParts;
}

namespace tkdc::sim {

void new_garbling();

// By a plan whose jobs are garbled.
void make_it_garble(Plan& plan);
GarblingOptions garbling_of(const Plan& plan);
// Circuits are laid out once in a program.
std::shared_ptr<const GarblingParts> garbling_parts();

// The first octets of what leaves over a bulk stream.
void note_tables(int server, ByteSpan first);
// A server has crashed or stopped.
void note_end_of_garbling(int server);
// Something a server logs, and why it is latched.
void note_log_of_garbling(int server, std::string_view text);
void note_latch_of_garbling(std::string_view why);
// Whether m1, m2 or m3 of a job is under way there.
bool is_garbling(int server);
void look_at_garbling();

// Until a job of that server begins to use an instance; until it sends tables. False: it did not
// for long, or nothing is disturbed any more.
bool wait_for_use(std::int64_t server);
bool wait_for_tables(std::int64_t server);

}  // namespace tkdc::sim
