// SPDX-License-Identifier: Apache-2.0
// What tkdc-import, tkdc-export and tkdc-reconcile do alike as programs: how they are asked to
// stop. How far they are: base/progress_line.h.
#pragma once

namespace tkdc::migrate {

// SIGINT and SIGTERM ask to stop; a closed pipe is an error of the write.
void handle_signals();
bool stop_asked();

}  // namespace tkdc::migrate
