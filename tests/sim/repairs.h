// SPDX-License-Identifier: Apache-2.0
// A server's disk is lost for good, and what administrators then do (`tkdc repair`): a new machine
// with keys of its own, approved by both survivors', gets its store from them, whatever breaks
// meanwhile and whatever one of them says of a component. And what must be true of it.
//
// One disk at a time. The lost one's and the survivors' stores of that moment are kept here: no key
// may have changed when all is over.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/hosts.h"

namespace tkdc::sim {

void new_repairs();
// Until the new machine has everything.
bool repair_is_due();
// All three have had their stores since then.
bool was_whole_since(Us time);

// Of a server's log.
void hear_of_repair(int server, std::string_view text);
// It is in a session for a repair.
bool is_repairing(int server);

// The fault: comes back with an empty disk after fault.c. fault.b: who lies about it, and how.
void lose_disk(const Fault& fault);
// Waits until the repair's session has begun.
bool wait_for_repair();
// When nothing is wrong any more: it comes to its end.
void finish_repair();

int disks_lost(int server);
// Those that went with its disks, where a backup was put back and nothing says so in the others'.
const std::vector<std::string>& lost_audit_logs(int server);

}  // namespace tkdc::sim
