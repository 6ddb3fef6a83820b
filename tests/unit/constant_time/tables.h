// SPDX-License-Identifier: Apache-2.0
// Two servers' lookup tables, for main.cc: whether each ran, and what came out is secret.
#pragma once

namespace tkdc {

// A deal enters a session before a circuit.
bool dealt_entered();
// A key's schedule, and a block sealed and opened.
bool looked_up();

}  // namespace tkdc
