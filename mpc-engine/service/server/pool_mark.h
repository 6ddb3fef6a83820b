// SPDX-License-Identifier: Apache-2.0
// Of two servers: whether the blocks of this store's pools may serve in this run. A copy of a
// store, taken while its server ran and put back, has blocks that have served since; served a
// second time, the other server reads shares from them (docs/protocols/27-two-server-jobs.md,
// Restored).
//
// So a server that stops in good order leaves a mark: the head of its audit log behind its last
// line. The next run takes the mark away before anything else. Where there is none, or it is of
// another log, blocks are given up: a crash, a copy that was taken meanwhile and a log that was
// lost look alike. It costs another pool; keys stay, and are bridged by a circuit.
//
// Not noticed: a copy of a server that was stopped in good order, its audit log included, which is
// put back with that log.
//
// One thread; before jobs begin, and behind the last of them. Nothing is secret.
#pragma once

#include "service/server/audit_log.h"
#include "service/store/store.h"

namespace tkdc {

// Before anything is written to the log. On disk when it returns.
Result<void> take_up_pools(Store& store, const AuditLog& audit);
// Behind the last line, which is on disk. A mark that cannot be left costs blocks, no more.
void leave_pools(Store& store, const AuditLog& audit);

}  // namespace tkdc
